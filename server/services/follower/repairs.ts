import type { TriedRelay } from '../ledger/open-relays.ts'
import type { Refusal } from '../ledger/signer-accounts.ts'
import type { Ages } from './ages.ts'
import { createAttempts, latest } from './attempts.ts'
import type { FollowerOptions, Head } from './follower-options.ts'
import { createReplaceLost, type ReplaceLost } from './replace-lost.ts'
import { replaceStuck } from './replace-stuck.ts'
import { sendMissing } from './send-missing.ts'

/** What is done about relays that are not mined. */
export interface Repairs {
  readonly replaceLost: ReplaceLost
  /** Relays that wait for their turn: sent again if no node has them, replaced if it takes too long or is of no use. */
  repairWaiting(
    account: string,
    relays: readonly TriedRelay[],
    at: { readonly head: Head; readonly chainNonce: number; readonly refusal: Refusal | undefined },
  ): Promise<void>
}

export function createRepairs(options: FollowerOptions & { readonly ages: Ages }): Repairs {
  const { ages, upstream, clock } = options
  const attempts = createAttempts(options)

  /** For how long the account's next transaction has been refused, by the calendar or as this process has seen it. */
  function refusedForMs(account: string, refusal: Refusal | undefined): number {
    const seenForMs = ages.see(`refused: ${account}`, refusal ? [String(refusal.nonce)] : [])
    return refusal ? Math.max(clock.nowMs() - refusal.sinceMs, seenForMs(String(refusal.nonce))) : 0
  }

  return {
    replaceLost: createReplaceLost({ ...options, attempts }),
    repairWaiting: async (account, relays, at) => {
      const hashes = relays.map((relay) => latest(relay).hash)
      const seenForMs = ages.see(`waiting: ${account}`, hashes)
      const refusedMs = refusedForMs(account, at.refusal)
      if (relays.length === 0) return
      const waiting = {
        ...at,
        account,
        relays,
        knownNonce: Number(await upstream.request<string>('eth_getTransactionCount', [account, 'pending'])),
        refusedForMs: refusedMs,
        ageMs: (relay: TriedRelay) => {
          const { hash, createdAtMs } = latest(relay)
          return Math.max(clock.nowMs() - createdAtMs, seenForMs(hash))
        },
      }
      await sendMissing(waiting, options)
      await replaceStuck(waiting, attempts, options)
    },
  }
}
