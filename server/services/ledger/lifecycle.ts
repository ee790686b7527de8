import { channel } from 'node:diagnostics_channel'
import type { RelayStatus } from '../database/tables.ts'

/** Who makes something happen in the life of a relay call, or of an account's nonce. */
type Actor = 'relayer' | 'chain' | 'follower' | 'somebody else'

interface Transition<State extends string, Event extends string> {
  readonly from: State
  readonly event: Event
  readonly to: State
  readonly by: Actor
}

/** States of a relay call; `… for good`: so deep in the chain that it is held to be final. */
export type CallState =
  | 'unknown'
  /** Stored. Perhaps it is sent, perhaps not yet. */
  | 'waiting'
  | 'succeeded'
  | 'reverted'
  /** Another transaction has used its nonce up. */
  | 'used up'
  /** It was used up, and the chain has taken that back. */
  | 'to be used up'
  | 'succeeded for good'
  | 'reverted for good'
  | 'used up for good'
  /** Something else has its nonce, and it cannot be executed with another one. */
  | 'given up for good'

export type CallEvent = 'accepted' | 'executed' | 'failed' | 'cancelled' | 'dropped' | 'lost' | 'confirmed' | 'reopened'

/** Where a call stands that is not final; each outcome may be replaced by another one after a reorganisation. */
const OPEN = ['waiting', 'to be used up', 'succeeded', 'reverted', 'used up'] as const
const MINED = ['succeeded', 'reverted', 'used up'] as const

/** The life of a relay call. What is not here cannot happen. */
export const callLife: readonly Transition<CallState, CallEvent>[] = [
  { from: 'unknown', event: 'accepted', to: 'waiting', by: 'relayer' },
  ...OPEN.flatMap((from): Transition<CallState, CallEvent>[] => [
    { from, event: 'executed', to: 'succeeded', by: 'chain' },
    { from, event: 'failed', to: 'reverted', by: 'chain' },
    { from, event: 'cancelled', to: 'used up', by: 'chain' },
  ]),
  { from: 'succeeded', event: 'dropped', to: 'waiting', by: 'chain' },
  { from: 'reverted', event: 'dropped', to: 'waiting', by: 'chain' },
  { from: 'used up', event: 'dropped', to: 'to be used up', by: 'chain' },
  { from: 'waiting', event: 'lost', to: 'given up for good', by: 'follower' },
  { from: 'to be used up', event: 'lost', to: 'given up for good', by: 'follower' },
  // What had its nonce is gone, so one of its own transactions may be mined yet.
  { from: 'given up for good', event: 'reopened', to: 'to be used up', by: 'chain' },
  ...MINED.flatMap((outcome): Transition<CallState, CallEvent>[] => [
    { from: outcome, event: 'confirmed', to: `${outcome} for good`, by: 'chain' },
    { from: `${outcome} for good`, event: 'reopened', to: outcome, by: 'chain' },
  ]),
]

/** States of an account's nonce, by what was signed last with it. */
export type NonceState = 'free' | 'carries a call' | 'carries nothing' | 'used' | 'used otherwise'

export type NonceEvent = 'signed' | 'replaced' | 'cancelled' | 'mined' | 'taken' | 'dropped'

/** The life of an account's nonce. Once it carries nothing, it never carries a call again. */
export const nonceLife: readonly Transition<NonceState, NonceEvent>[] = [
  { from: 'free', event: 'signed', to: 'carries a call', by: 'relayer' },
  { from: 'carries a call', event: 'replaced', to: 'carries a call', by: 'follower' },
  { from: 'carries a call', event: 'cancelled', to: 'carries nothing', by: 'follower' },
  { from: 'carries nothing', event: 'cancelled', to: 'carries nothing', by: 'follower' },
  { from: 'carries a call', event: 'mined', to: 'used', by: 'chain' },
  { from: 'carries nothing', event: 'mined', to: 'used', by: 'chain' },
  { from: 'carries a call', event: 'taken', to: 'used otherwise', by: 'somebody else' },
  { from: 'carries nothing', event: 'taken', to: 'used otherwise', by: 'somebody else' },
  { from: 'used', event: 'dropped', to: 'carries a call', by: 'chain' },
  { from: 'used otherwise', event: 'dropped', to: 'carries nothing', by: 'chain' },
]

/** Told of each transition of a relay call, for those who count them. */
export const callTransitions = channel('touchstone:relay-call')

/**
 * What a call becomes.
 *
 * @throws Error it cannot happen
 */
export function nextCallState(from: CallState, event: CallEvent): CallState {
  const { to } = transitionIn(callLife, from, event)
  if (callTransitions.hasSubscribers) callTransitions.publish({ from, event, to })
  return to
}

/** @throws Error it cannot happen */
export const nextNonceState = (from: NonceState, event: NonceEvent): NonceState =>
  transitionIn(nonceLife, from, event).to

function transitionIn<State extends string, Event extends string>(
  life: readonly Transition<State, Event>[],
  from: State,
  event: Event,
): Transition<State, Event> {
  const found = life.find((one) => one.from === from && one.event === event)
  if (!found) throw new Error(`what is '${from}' cannot be '${event}'`)
  return found
}

/** What the ledger says of a call. */
interface CallRow {
  readonly status: RelayStatus
  readonly mined_hash: string | null
  readonly final: boolean
}

export function callStateOf({ status, mined_hash, final }: CallRow): CallState {
  if (status === 'pending') return 'waiting'
  if (status !== 'abandoned') return final ? `${status} for good` : status
  if (mined_hash === null) return final ? 'given up for good' : 'to be used up'
  return final ? 'used up for good' : 'used up'
}

/** What the ledger says of a call in this state. */
export function statusOf(state: CallState): RelayStatus {
  if (state === 'unknown') throw new Error('the ledger does not know the call')
  if (state === 'waiting') return 'pending'
  if (state.startsWith('succeeded')) return 'succeeded'
  return state.startsWith('reverted') ? 'reverted' : 'abandoned'
}

/** Whether nothing but a deep reorganisation can change a call any more. */
export const isFinal = (state: CallState): boolean => state.endsWith('for good')
