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
