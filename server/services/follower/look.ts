import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import type { Settlement } from '../ledger/settle.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Plans } from '../quotas/plans.ts'
import type { Broadcaster } from '../relayer/broadcast.ts'
import type { FeeSource } from '../relayer/fees.ts'
import type { SignerAccount } from '../signers/signers.ts'
import type { Simulator } from '../simulator/simulator.ts'
import type { OpenRelay, TriedRelay } from '../ledger/open-relays.ts'
import type { Refusal } from '../ledger/signer-accounts.ts'

/** What the follower and its repairs need. */
export interface FollowerOptions {
  readonly chainId: bigint
  readonly database: Database
  readonly upstream: Upstream
  readonly broadcaster: Broadcaster
  readonly simulator: Simulator
  readonly fees: FeeSource
  readonly plans: Plans
  readonly signerOf: (account: string) => SignerAccount | undefined
  readonly clock: Clock
  readonly log: Logger
  /** A block is held to be final when so many blocks are on top of it. */
  readonly confirmations: number
  /** After this time a transaction that no node has is sent again. */
  readonly resendAfterMs: number
  /** After this time without a receipt the fees are raised. */
  readonly replaceAfterMs: number
  /** For this time a nonce must be seen as used by something else before that is believed. */
  readonly lostAfterMs: number
  /** For this time the node must refuse the next transaction of an account before its call is given up. */
  readonly refusedAfterMs: number
  /** Called at each look. `isLeftOut`: the node refuses the account's next transaction, so the account must get no calls. */
  readonly onLook: (account: string, isLeftOut: boolean) => void
  /** Called for each settled relay; `requestId` is null where the ledger has none. */
  readonly onSettled: (settlement: Settlement, requestId: string | null) => void
}

/** The block that a look at an account begins with. */
export interface Head {
  readonly number: number
  readonly hash: string
  /** Unix seconds. */
  readonly timestamp: number
}

/** The relays of an account that the chain has not reached yet, and what one look has found out about the account. */
export interface Waiting {
  readonly account: string
  /** In the order of the account's nonces. */
  readonly relays: readonly TriedRelay[]
  readonly head: Head
  /** The account's next nonce on the chain. */
  readonly chainNonce: number
  /** The account's next nonce after the pending transactions that the node has. */
  readonly knownNonce: number
  /** Absent: the node refuses no transaction of the account. */
  readonly refusal: Refusal | undefined
  /** For how long the node has refused it, in milliseconds; 0 when it refuses none. */
  readonly refusedForMs: number
  /**
   * How old a relay's latest transaction is, in milliseconds: by the clock, or by what this process has seen, whichever is
   * more.
   */
  readonly ageMs: (relay: TriedRelay) => number
  /** How many blocks have come while this process has seen a relay's latest transaction; below 0 after a reorganisation. */
  readonly ageBlocks: (relay: TriedRelay) => number
}

/** Whether the call has expired: the key manager would refuse it in the next block. */
export const isOver = ({ expiresAt }: OpenRelay, { timestamp }: Head): boolean =>
  expiresAt !== null && expiresAt < BigInt(timestamp)

/** Remembers for how long this process has seen something at every look. */
export interface Ages {
  /**
   * @param about what is looked at, an account for example
   * @param names what this look has found; a name that it has not found is forgotten
   * @param now what the age is counted by. Default: milliseconds of the monotonic clock
   * @returns a function that tells for how long a name has been found at every look
   */
  see(about: string, names: Iterable<string>, now?: number): (name: string) => number
}

/**
 * Counts by the monotonic clock. The clock that stored times are from may be set back by an hour, and then nothing would be
 * late for that hour.
 */
export function createAges(clock: Clock): Ages {
  const firstSeen = new Map<string, ReadonlyMap<string, number>>()
  return {
    see: (about, names, now = clock.monotonicMs()) => {
      const before = firstSeen.get(about)
      const since = new Map(Array.from(names, (name) => [name, before?.get(name) ?? now]))
      if (since.size === 0) firstSeen.delete(about)
      else firstSeen.set(about, since)
      return (name) => now - (since.get(name) ?? now)
    },
  }
}
