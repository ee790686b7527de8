import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../chain/upstream.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { retryOnConflict } from '../database/retry.ts'
import { commit, type Acceptance, type Committed } from '../ledger/commit.ts'
import { markSent } from '../ledger/sent.ts'
import type { Registration } from '../ledger/account-rows.ts'
import type { Plans } from '../quotas/plans.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import { broadcast } from './broadcast.ts'
import type { FeeSource } from './fees.ts'

/** What a lane answers: first that the call is stored, later that a node has it. */
export interface LaneAnswer {
  readonly committed: Committed
  /** Resolves when a node has the transaction, or did not want it for now: it is stored, and not given up. */
  readonly sent: Promise<void>
}

/** One account's way to the chain: stores calls, and sends them in the order of its nonces. */
export interface Lane {
  /**
   * @param acceptances of one channel, in nonce order
   * @throws ServiceError SIGNERS_UNAVAILABLE, UPSTREAM_UNAVAILABLE; nothing is stored then
   */
  submit(acceptances: readonly Acceptance[]): Promise<LaneAnswer[]>
  /** Resolves when everything that was submitted is through. */
  idle(): Promise<void>
}

export interface LaneOptions {
  readonly signer: SignerAccount
  readonly chainId: bigint
  readonly database: Database
  readonly upstream: Upstream
  readonly fees: FeeSource
  readonly plans: Plans
  readonly registration: Registration
  readonly clock: Clock
  readonly log: Logger
  /** Called when something is stored: it has to be followed until it is mined. */
  readonly onStored: (account: string) => void
}

/** The most calls in one database transaction: what is committed together is also waited for together. */
const MAX_TOGETHER = 64

/** What locks an account, in the sense of `Database.exclusively`. */
export const laneKey = (account: string) => `signer:${account}`

interface Submission {
  readonly acceptances: readonly Acceptance[]
  readonly resolve: (answers: LaneAnswer[]) => void
  readonly reject: (error: unknown) => void
}

export function createLane(options: LaneOptions): Lane {
  const { signer, database, upstream, fees, clock, log } = options
  let waiting: Submission[] = []
  let running: Promise<void> | undefined

  function takeBatch(): Submission[] {
    const batch: Submission[] = []
    let size = 0
    for (const submission of waiting) {
      if (batch.length > 0 && size + submission.acceptances.length > MAX_TOGETHER) break
      batch.push(submission)
      size += submission.acceptances.length
    }
    waiting = waiting.slice(batch.length)
    return batch
  }

  async function runBatch(batch: readonly Submission[]): Promise<void> {
    const current = await fees.current()
    await database.exclusively(laneKey(signer.address), async (db) => {
      const acceptances = batch.flatMap((submission) => submission.acceptances)
      const { outcomes, unsent } = await retryOnConflict(() =>
        commit(db, acceptances, { ...options, nowMs: clock.nowMs(), fees: current }),
      )
      const stored = outcomes.flatMap((outcome) => (outcome.kind === 'stored' ? [outcome] : []))
      if (stored.length > 0) options.onStored(signer.address)

      const sent = new Map(stored.map(({ hash }) => [hash, Promise.withResolvers<void>()]))
      let next = 0
      for (const { acceptances: own, resolve } of batch) {
        resolve(
          outcomes.slice(next, (next += own.length)).map((committed) => ({
            committed,
            sent: (committed.kind === 'stored' ? sent.get(committed.hash)?.promise : undefined) ?? Promise.resolve(),
          })),
        )
      }
      try {
        const taken: string[] = []
        for (const transaction of [...unsent, ...stored]) {
          // What follows a nonce that no node has would only be refused: the background work sends it in order.
          if ((await broadcast(transaction, { upstream, log })) !== 'taken') break
          taken.push(transaction.hash)
          sent.get(transaction.hash)?.resolve()
        }
        await markSent(db, taken, clock.nowMs())
      } finally {
        for (const { resolve } of sent.values()) resolve()
      }
    })
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch()
      try {
        await runBatch(batch)
      } catch (error) {
        if (!(error instanceof ServiceError)) log.error({ err: error, signer: signer.address }, 'a batch failed')
        // Those that were answered before the failure stay answered.
        for (const { reject } of batch) reject(error)
      }
    }
    running = undefined
  }

  return {
    submit: (acceptances) =>
      new Promise((resolve, reject) => {
        waiting.push({ acceptances, resolve, reject })
        // In the next round of I/O: calls that were simulated together are committed together.
        running ??= new Promise<void>((turn) => setImmediate(turn)).then(run)
      }),
    idle: async () => {
      while (running) await running
    },
  }
}
