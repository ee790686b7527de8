import { channel } from 'node:diagnostics_channel'
import type { RelayStatus } from '../relay-services.ts'

/** Who makes something happen in the life of a relay call, or of an account's nonce. */
type Actor = 'relayer' | 'chain' | 'follower' | 'somebody else'

interface Transition<State extends string, Event extends string> {
  readonly from: State
  readonly event: Event
  readonly to: State
  readonly by: Actor
}

/** States of a relay call. `… for good`: its block is so deep in the chain that the outcome is held to be final. */
export type CallState =
  | 'unknown'
  /** Stored. Perhaps it is sent, perhaps not yet. */
  | 'waiting'
  | 'succeeded'
  | 'reverted'
  /** A transaction without the call has used up its account nonce. */
  | 'used up'
  /** It was used up, and a reorganisation has dropped the block of that. */
  | 'to be used up'
  | 'succeeded for good'
  | 'reverted for good'
  | 'used up for good'
  /** Something else has used its account nonce, and with another nonce the call cannot be executed. */
  | 'given up for good'

export type CallEvent = 'accepted' | 'executed' | 'failed' | 'cancelled' | 'dropped' | 'lost' | 'confirmed' | 'reopened'

/** States that are not final. After a reorganisation each outcome may be replaced by another one. */
const OPEN = ['waiting', 'to be used up', 'succeeded', 'reverted', 'used up'] as const
const MINED = ['succeeded', 'reverted', 'used up'] as const

/** The life of a relay call. A transition that is not listed cannot happen. */
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
  // A reorganisation has dropped what had used its nonce, so one of its own transactions may still be mined.
  { from: 'given up for good', event: 'reopened', to: 'to be used up', by: 'chain' },
  ...MINED.flatMap((outcome): Transition<CallState, CallEvent>[] => [
    { from: outcome, event: 'confirmed', to: `${outcome} for good`, by: 'chain' },
    { from: `${outcome} for good`, event: 'reopened', to: outcome, by: 'chain' },
  ]),
]

/** States of an account's nonce, by the transaction that was signed last with it. */
export type NonceState = 'free' | 'carries a call' | 'carries nothing' | 'used' | 'used otherwise'

export type NonceEvent = 'signed' | 'replaced' | 'cancelled' | 'mined' | 'taken' | 'dropped'

/** The life of an account's nonce. A nonce that carries nothing never carries a call again. */
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

/** Publishes each transition of a relay call; the simulation counts them. */
export const callTransitions = channel('touchstone:relay-call')

/**
 * The next state of a call. It is published to `callTransitions`.
 *
 * @throws Error the event cannot happen in this state
 */
export function nextCallState(from: CallState, event: CallEvent): CallState {
  const { to } = transitionIn(callLife, from, event)
  if (callTransitions.hasSubscribers) callTransitions.publish({ from, event, to })
  return to
}

/** @throws Error the event cannot happen in this state */
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

/** The columns of a relay that say in which state it is. */
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

/** The status that the ledger stores for this state. @throws Error the call is unknown */
export function statusOf(state: CallState): RelayStatus {
  if (state === 'unknown') throw new Error('the ledger does not know the call')
  if (state === 'waiting') return 'pending'
  if (state.startsWith('succeeded')) return 'succeeded'
  return state.startsWith('reverted') ? 'reverted' : 'abandoned'
}

/** Whether the state can change only by a reorganisation that is deeper than `chain.confirmations`. */
export const isFinal = (state: CallState): boolean => state.endsWith('for good')
