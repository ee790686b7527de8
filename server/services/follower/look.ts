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

/** What following and repairing relays takes. */
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
  /** Blocks on top of a block after which it is held to be final. */
  readonly confirmations: number
  /** Time after which a transaction is sent again that no node has. */
  readonly resendAfterMs: number
  /** Time without a receipt after which the fees are raised. */
  readonly replaceAfterMs: number
  /** Time for which a nonce must be seen as used by something else before that is believed. */
  readonly lostAfterMs: number
  /** Time for which the node must refuse the next transaction of an account before its nonce is used otherwise. */
  readonly refusedAfterMs: number
  /** Told at each look whether an account is of no use: the node refuses its next transaction. */
  readonly onLook: (account: string, isLeftOut: boolean) => void
  /** The request's id is known where the relay has one. */
  readonly onSettled: (settlement: Settlement, requestId: string | null) => void
}

/** The block that a look at an account begins with. */
export interface Head {
  readonly number: number
  readonly hash: string
  /** Unix seconds. */
  readonly timestamp: number
}

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

/** Remembers since when this process has seen something at every look at an account. */
export interface Ages {
  /**
   * @param about what the names are of, an account for example; names that were seen at the last look and are not seen now
   *   are forgotten
   * @returns tells for how long a name has been seen at every look, in milliseconds
   */
  see(about: string, names: Iterable<string>): (name: string) => number
}

/**
 * Counts by the monotonic clock: stored times are of the calendar, which may be set back, and then nothing would be late for
 * as long as it was ahead.
 */
export function createAges(clock: Clock): Ages {
  const seenAtMs = new Map<string, ReadonlyMap<string, number>>()
  return {
    see: (about, names) => {
      const nowMs = clock.monotonicMs()
      const before = seenAtMs.get(about)
      const now = new Map(Array.from(names, (name) => [name, before?.get(name) ?? nowMs]))
      if (now.size === 0) seenAtMs.delete(about)
      else seenAtMs.set(about, now)
      return (name) => nowMs - (now.get(name) ?? nowMs)
    },
  }
}
