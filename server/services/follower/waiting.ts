import type { OpenRelay, TriedRelay } from '../ledger/open-relays.ts'
import type { Refusal } from '../ledger/signer-accounts.ts'
import type { Head } from './follower-options.ts'

/** The relays of an account that wait for their turn, and what one look has found out about the account. */
export interface Waiting {
  readonly account: string
  /** In the order of the account's nonces. */
  readonly relays: readonly TriedRelay[]
  readonly head: Head
  /** The account's next nonce on the chain. */
  readonly chainNonce: number
  /** The account's next nonce by what the node has, pending transactions included. */
  readonly knownNonce: number
  /** What the node refuses of the account; undefined: nothing. */
  readonly refusal: Refusal | undefined
  /** For how long the node has refused it, in milliseconds. */
  readonly refusedForMs: number
  /** For how long a relay's latest transaction has been there, by the calendar or as this process has seen it. */
  readonly ageMs: (relay: TriedRelay) => number
}

/** Whether the key manager would refuse the call in the next block: it is too late. */
export const isOver = ({ expiresAt }: OpenRelay, { timestamp }: Head): boolean =>
  expiresAt !== null && expiresAt < BigInt(timestamp)
