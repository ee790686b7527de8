import { ServiceError } from '../../core/errors.ts'
import { maxFeePerGas, type Fees } from '../../ethereum/sign-transaction.ts'
import type { TriedRelay } from '../ledger/open-relays.ts'
import { noteRefusal } from '../ledger/signer-accounts.ts'
import { carriedOf, groupsOf, latest, type Attempts } from './attempts.ts'
import type { FollowerOptions } from './follower-options.ts'
import { isOver, type Waiting } from './waiting.ts'

/** A call is given up after so many refusals, and some time: see `FollowerOptions.refusedAfterMs`. */
const GIVEN_UP_AFTER = 3
/** The most replacements in one look. */
const MAX_REPLACEMENTS = 16

/**
 * Signs transactions with higher fees for what takes too long, and uses up the nonces of calls that cannot be executed any
 * more. Where the node keeps refusing the account's next transaction, that call is given up, too.
 */
export async function replaceStuck(waiting: Waiting, attempts: Attempts, options: FollowerOptions): Promise<void> {
  const { database, signerOf, clock, log, replaceAfterMs } = options
  const { account, relays, chainNonce } = waiting
  const signer = signerOf(account)
  if (!signer) return
  const doomed = doomedOf(waiting, options)
  const isDropped = (relay: TriedRelay) => doomed.has(relay.hash) || latest(relay).kind === 'cancel'
  const stuck = groupsOf(relays).filter((group) => {
    const isDoomed = group.some((relay) => latest(relay).kind === 'call' && doomed.has(relay.hash))
    const [relay] = group
    return waiting.ageMs(relay) >= replaceAfterMs || isDoomed || isRefused(relay, waiting)
  })
  for (const group of stuck.slice(0, MAX_REPLACEMENTS)) {
    const [relay] = group
    const carried = group.filter((one) => !isDropped(one))
    const isAnotherThing = carried.length < group.filter((one) => latest(one).kind === 'call').length
    const fees = await feesFor(relay, isAnotherThing, waiting, options)
    if (fees === null) continue
    const kind = carried.length > 0 ? 'call' : 'cancel'
    for (const { requestId, hash } of group) log.warn({ requestId, relay: hash, kind }, 'a transaction is replaced')
    const isTaken = await attempts.replace({ relays: group, carried }, signer, fees)
    if (!isTaken && relay.accountNonce === chainNonce) {
      await noteRefusal(database.db, account, chainNonce, clock.nowMs())
    }
  }
}

/** The node has nothing with the relay's nonce, and wants nothing: there is nothing to be outbid. */
const isRefused = ({ accountNonce }: TriedRelay, { refusal, knownNonce }: Waiting) =>
  accountNonce === refusal?.nonce && refusal.count > 1 && accountNonce >= knownNonce

/** @returns what the next transaction offers; null: no more than the one before it, so that there is no use in it */
async function feesFor(
  relay: TriedRelay,
  isAnotherThing: boolean,
  waiting: Waiting,
  { fees, log }: FollowerOptions,
): Promise<Fees | null> {
  const { fees: offered } = latest(relay)
  if (isRefused(relay, waiting)) return feesForRefused(offered, isAnotherThing, fees)
  const raised = await fees.raised(offered)
  if (raised === null) {
    log.warn({ relay: relay.hash, signer: waiting.account }, 'a transaction is stuck, and its fee is at the ceiling')
  }
  return raised
}

/**
 * No node has the transaction, so nothing is to be outbid: what the chain asks for now, or null when that is no more
 * than was offered for the same thing. A balance may be too low for more.
 */
async function feesForRefused(
  offered: Fees,
  isAnotherThing: boolean,
  fees: FollowerOptions['fees'],
): Promise<Fees | null> {
  try {
    const current = await fees.current()
    return isAnotherThing || maxFeePerGas(current) > maxFeePerGas(offered) ? current : null
  } catch (error) {
    // The chain asks for more than the ceiling.
    if (error instanceof ServiceError && error.code === 'SIGNERS_UNAVAILABLE') return null
    throw error
  }
}

/**
 * The relays whose nonces are to be used up: those that are over, those that are given up, and what follows on these in
 * their channels, since it would only revert. What follows on one that is over reverts at the expense of its profile,
 * whose doing that is.
 */
function doomedOf(
  { relays, head, refusal, refusedForMs }: Waiting,
  { refusedAfterMs }: FollowerOptions,
): ReadonlySet<string> {
  const isGivenUp = ({ accountNonce }: TriedRelay) =>
    accountNonce === refusal?.nonce && refusal.count >= GIVEN_UP_AFTER && refusedForMs >= refusedAfterMs
  const doomed = new Set<string>()
  const channels = new Set<string>()
  // A bundle is over when all that it carries is: before, the key manager refuses only those that are.
  const over = new Set(
    groupsOf(relays).flatMap((group) => (carriedOf(group).every((one) => isOver(one, head)) ? group : [])),
  )
  for (const relay of relays.toSorted((one, other) => (one.nonce < other.nonce ? -1 : 1))) {
    // One that is abandoned has made way for another one with the same nonce.
    if (relay.status !== 'pending') continue
    const channel = `${relay.keyManager}:${relay.signer}:${relay.nonce >> 128n}`
    if (over.has(relay)) doomed.add(relay.hash)
    else if (channels.has(channel) || latest(relay).kind === 'cancel' || isGivenUp(relay)) {
      channels.add(channel)
      doomed.add(relay.hash)
    }
  }
  return doomed
}
