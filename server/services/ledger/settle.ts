import { anyOf, type AttemptsTable } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import { planOf } from '../quotas/account.ts'
import { callStateOf, nextCallState } from './lifecycle.ts'
import type { FinalBlock } from './final-blocks.ts'
import { changeRelays, type ChangeOptions, type Settlement } from './change-relays.ts'

/** A mined transaction of a relay. */
export interface Mined {
  /** `relays.hash`. */
  readonly relay: string
  readonly attempt: string
  readonly kind: AttemptsTable['kind']
  readonly succeeded: boolean
  readonly blockNumber: number
  readonly blockHash: string
  /** Of a call in a bundle, its part. */
  readonly gasUsed: bigint
  readonly effectiveGasPriceWei: bigint
  /** Deep enough in the chain to stay. */
  readonly final: boolean
}

export interface SettleOptions extends ChangeOptions {
  /** Time of the chain's head, Unix seconds. */
  readonly chainSeconds: bigint
}

/**
 * Writes down that relays are mined, and charges what they did cost: also when they reverted, and also what it did cost
 * to use up the nonce of one that has expired. The rest of what was reserved goes back, unless the account has begun a
 * new period. What was written before is corrected: a relay may be mined again, elsewhere, after a reorganisation.
 */
export async function settle(db: Queries, mined: readonly Mined[], options: SettleOptions): Promise<Settlement[]> {
  const byRelay = new Map(mined.map((one) => [one.relay, one]))
  return changeRelays(db, [...byRelay.keys()], options, (relay) => {
    const one = byRelay.get(relay.hash)
    if (!one || relay.final) return undefined
    const outcome = one.kind === 'cancel' ? 'cancelled' : one.succeeded ? 'executed' : 'failed'
    const isExpired = relay.expires_at !== null && BigInt(relay.expires_at) < options.chainSeconds
    // What is cancelled for another reason is not the profile's doing, and a bundle that leaves a call out costs it nothing.
    const isFree = one.kind === 'cancel' && (!isExpired || one.gasUsed === 0n)
    return {
      cost: isFree ? 0n : planOf(relay, options.plans).settle(one),
      gasUsed: one.gasUsed,
      events: one.final ? [outcome, 'confirmed'] : [outcome],
      mined: { hash: one.attempt, blockNumber: one.blockNumber, blockHash: one.blockHash, gasUsed: one.gasUsed },
    }
  })
}

/** Takes back that relays are mined: the chain has dropped their blocks. What they reserved is reserved again. */
export async function unsettle(db: Queries, relays: readonly string[], options: ChangeOptions): Promise<Settlement[]> {
  return changeRelays(db, relays, options, (relay) => {
    if (relay.final || relay.mined_hash === null) return undefined
    return { cost: null, gasUsed: 0n, events: ['dropped'], mined: null }
  })
}

/** A relay, and the account nonce that it had when something was decided for it. */
export interface SeenRelay {
  readonly hash: string
  readonly accountNonce: number
}

/**
 * Gives relays up that will never be mined: nothing is charged. One that another process has given another nonce since
 * may well be mined.
 *
 * @param head on the chain up to this block, something else has their nonces
 */
export async function abandon(
  db: Queries,
  relays: readonly SeenRelay[],
  head: FinalBlock,
  options: ChangeOptions,
): Promise<Settlement[]> {
  const seen = new Map(relays.map(({ hash, accountNonce }) => [hash, accountNonce]))
  return changeRelays(db, [...seen.keys()], options, (relay) => {
    const isOpen = !relay.final && relay.mined_hash === null && Number(relay.account_nonce) === seen.get(relay.hash)
    return isOpen ? { cost: 0n, gasUsed: 0n, events: ['lost'], givenUpAt: head } : undefined
  })
}

/** Marks relays as deep enough in the chain to stay. */
export async function finalise(db: Queries, relays: readonly string[]): Promise<void> {
  if (relays.length === 0) return
  const confirmed = await db
    .updateTable('relays')
    .set({ final: true })
    .where('hash', '=', anyOf(relays))
    .where('mined_hash', 'is not', null)
    .where('final', '=', false)
    .returning(['status', 'mined_hash'])
    .execute()
  for (const row of confirmed) nextCallState(callStateOf({ ...row, final: false }), 'confirmed')
}
