import { keyManagerCalls } from '../../ethereum/contracts.ts'
import { lookUp } from '../ledger/lookup.ts'
import { callDataOf, type OpenRelay } from '../ledger/open-relays.ts'
import { isKeyManagerOf } from '../relayer/judge.ts'
import type { Ages } from './ages.ts'
import { groupsOf, type Attempts } from './attempts.ts'
import type { FollowerOptions } from './follower-options.ts'

/**
 * Deals with relays whose account nonce the chain has used, though none of their transactions is mined: something else took
 * it. They get another nonce if they can still be executed.
 *
 * @returns those that cannot: to be given up
 */
export type ReplaceLost = (account: string, relays: readonly OpenRelay[], chainNonce: number) => Promise<OpenRelay[]>

export type ReplaceLostOptions = Pick<
  FollowerOptions,
  'database' | 'simulator' | 'fees' | 'signerOf' | 'log' | 'lostAfterMs'
> & { readonly ages: Ages; readonly attempts: Attempts }

/** How far before a call others of its channel may be pending. */
const MAX_BEFORE = 128n

/**
 * In the order of their channels, so that each finds those before it pending again. Where bundles are among them, whose calls
 * are of several channels, in that of the account's nonces, which was the channels' order when they were stored.
 */
function inOrder(groups: readonly [OpenRelay, ...OpenRelay[]][]): readonly [OpenRelay, ...OpenRelay[]][] {
  if (groups.some(([{ place }]) => place !== null)) {
    return groups.toSorted(([one], [other]) => one.accountNonce - other.accountNonce)
  }
  return groups.toSorted(([one], [other]) => (one.nonce < other.nonce ? -1 : 1))
}

export function createReplaceLost(options: ReplaceLostOptions): ReplaceLost {
  const { database, simulator, fees, signerOf, log, lostAfterMs, ages, attempts } = options

  /** Whether a call would succeed now, after those before it in its channel. */
  async function isExecutable(relay: OpenRelay): Promise<boolean> {
    const { profile, keyManager, signer, nonce } = relay
    const key = { profile, keyManager, signer, channel: nonce >> 128n }
    const [state] = await lookUp(database.db, [{ key, from: nonce - MAX_BEFORE, identities: [] }])
    const before = (state?.pending ?? []).filter((pending) => pending.nonce < nonce)
    const callData = await callDataOf(database.db, relay)
    const nonceCallData = keyManagerCalls.getNonce(signer, key.channel)
    const { calls, parties } = await simulator.simulate({
      pending: before.map((pending) => pending.callData),
      calls: [{ profile, keyManager, signer, nonce, callData, nonceCallData }],
    })
    return calls[0]?.kind === 'succeeds' && isKeyManagerOf(relay, parties)
  }

  return async (account, relays, chainNonce) => {
    // With another nonce it is another thing that may get lost.
    const nameOf = ({ hash, accountNonce }: OpenRelay) => `${hash} ${accountNonce}`
    const lostForMs = ages.see(`lost: ${account}`, relays.map(nameOf))
    const lost = relays.filter((relay) => lostForMs(nameOf(relay)) >= lostAfterMs)
    const signer = signerOf(account)
    const given: OpenRelay[] = []
    for (const relays of inOrder(groupsOf(lost))) {
      const carried: OpenRelay[] = []
      for (const relay of relays) {
        // An abandoned relay wanted its nonce used up, and it is.
        const isGiven = relay.status === 'abandoned' || !signer || !(await isExecutable(relay))
        if (isGiven) given.push(relay)
        else carried.push(relay)
      }
      if (!signer || carried.length === 0) continue
      for (const { requestId, hash } of carried) {
        log.warn({ requestId, relay: hash }, 'nonce used by something else: another is taken')
      }
      await attempts.renew({ relays, carried }, signer, await fees.current(), chainNonce)
    }
    return given
  }
}
