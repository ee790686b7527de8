import { ServiceError } from '../../core/errors.ts'
import { min } from '../../ethereum/bigint.ts'
import type { PendingCall } from '../ledger/lookup.ts'
import type { Profiles } from '../profiles/profiles.ts'
import type { ChannelRun, Simulator } from '../simulator/simulator.ts'
import type { Channel, WaitingCall } from './channel.ts'
import { judgeSigner, type SimulatedRun } from './judge.ts'

export interface SimulateNextOptions {
  readonly simulator: Simulator
  readonly profiles: Pick<Profiles, 'permissions'>
  /** When the turn began, by the monotonic clock. */
  readonly turnBeganMs: number
}

/** The most calls of one channel that may be pending: each new one is simulated on top of them. */
const MAX_PENDING = 128
/** The most calls that one simulation adds. */
const MAX_RUN = 16
const RETRY_SECONDS = 2

/**
 * Finds the calls of a channel that are next, and tries them.
 *
 * They are first tried as if nothing were pending: mostly nothing is, and one look at the chain is enough. Only when
 * that fails, the ledger is asked for the calls before them, and for what became of the same calls before.
 *
 * @returns undefined when no call could be tried: those that cannot go on are answered, the others wait
 * @throws StaleProfileError; ServiceError NOT_AUTHORISED, INVALID_SIGNATURE, UPSTREAM_UNAVAILABLE
 */
export async function simulateNext(channel: Channel, options: SimulateNextOptions): Promise<SimulatedRun | undefined> {
  const { simulator, profiles } = options
  const remembered = channel.chainNonceBehindPending
  if (remembered !== undefined)
    return simulateOnTopOfPending(channel, options, { chainNonce: remembered, isFresh: false })

  const calls = consecutive(channel.inOrder()).slice(0, MAX_RUN)
  const [lowest] = calls
  if (!lowest) return undefined
  const result = await simulator.simulate(runOf([], calls))
  await judgeSigner(lowest.call, result, profiles)
  if (lowest.call.nonce > result.nonce) {
    return simulateOnTopOfPending(channel, options, { chainNonce: result.nonce, isFresh: true })
  }
  if (lowest.call.nonce < result.nonce) return refuseUsed(channel, result.nonce)
  return { calls, results: result.calls, account: undefined }
}

/**
 * @param chainNonce the channel's next nonce on the chain
 * @param isFresh whether this turn has read it, or an earlier one
 */
async function simulateOnTopOfPending(
  channel: Channel,
  { simulator, profiles, turnBeganMs }: SimulateNextOptions,
  { chainNonce, isFresh }: { readonly chainNonce: bigint; readonly isFresh: boolean },
): Promise<SimulatedRun | undefined> {
  const found = await channel.lookUp(channel.inOrder(), { from: chainNonce, alsoMined: isFresh })
  const pending = consecutivePending(found.pending, chainNonce)
  const expected = chainNonce + BigInt(pending.length)
  const { open } = found
  const [lowest] = open
  channel.chainNonceBehindPending = pending.length === 0 ? undefined : chainNonce
  // Nothing is pending any more: the next turn asks the chain again.
  if (!lowest || (pending.length === 0 && !isFresh)) return undefined
  if (lowest.call.nonce < chainNonce) return refuseUsed(channel, chainNonce)
  if (lowest.call.nonce < expected) {
    const taken = open.filter(({ call }) => call.nonce < expected)
    channel.refuse(taken, nonceConflict(expected))
    return undefined
  }
  if (lowest.call.nonce > expected) {
    await channel.waitForPredecessor(open, expected, turnBeganMs)
    return undefined
  }
  if (pending.length >= MAX_PENDING) {
    channel.refuse(open, tooManyPending(pending.length))
    return undefined
  }

  const calls = consecutive(open).slice(0, Math.min(MAX_RUN, MAX_PENDING - pending.length))
  const result = await simulator.simulate(runOf(pending, calls))
  await judgeSigner(lowest.call, result, profiles)
  channel.chainNonceBehindPending = result.nonce < lowest.call.nonce ? result.nonce : undefined
  if (result.nonce < chainNonce) {
    // A reorganisation took back calls that were not simulated with these: the next turn finds them pending again.
    channel.chainNonceBehindPending = undefined
    return undefined
  }
  if (lowest.call.nonce < result.nonce) return refuseUsed(channel, result.nonce)
  return { calls, results: result.calls, account: pending.at(-1)?.account }
}

function refuseUsed(channel: Channel, chainNonce: bigint): undefined {
  channel.chainNonceBehindPending = undefined
  const used = channel.inOrder().filter(({ call }) => call.nonce < chainNonce)
  channel.refuse(used, nonceUsed(chainNonce))
}

function runOf(pending: readonly PendingCall[], calls: readonly WaitingCall[]): ChannelRun {
  const caps = calls.map(({ admission }) => admission.gasCap)
  return {
    pending: pending.map(({ callData }) => callData),
    calls: calls.map(({ call }) => call),
    gasCap: caps.reduce((least, cap) => min(least, cap)),
  }
}

/** The calls from the first one on whose nonces follow each other. */
function consecutive(calls: readonly WaitingCall[]): WaitingCall[] {
  const first = calls[0]?.call.nonce ?? 0n
  return calls.filter(({ call }, index) => call.nonce === first + BigInt(index))
}

/** What waits to be mined from this nonce on, without what lies behind a gap. */
function consecutivePending(pending: readonly PendingCall[], from: bigint): PendingCall[] {
  return pending.filter(({ nonce }, index) => nonce === from + BigInt(index))
}

const expectedNonce = (nonce: bigint) => ({ details: { expectedNonce: String(nonce) } })

const nonceUsed = (expected: bigint) =>
  new ServiceError('NONCE_USED', `the next nonce of this channel is ${expected}`, expectedNonce(expected))

const nonceConflict = (expected: bigint) =>
  new ServiceError('NONCE_CONFLICT', 'another payload was accepted with this nonce', expectedNonce(expected))

const tooManyPending = (count: number) =>
  new ServiceError('RATE_LIMITED', `${count} calls of this channel wait to be mined`, {
    retryAfterSeconds: RETRY_SECONDS,
  })
