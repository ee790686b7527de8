import type { Logger } from 'pino'
import { microBatch } from '../../concurrency/micro-batch.ts'
import { KeyHeldError, type Database } from '../database/database.ts'
import type { Acceptance, BundleLimits } from '../ledger/draft.ts'
import { commit, type CommitOptions } from '../ledger/commit.ts'
import type { Clock } from '../clock.ts'
import type { Signers } from '../signers/signers.ts'
import { AccountQueue, type Handled } from './account-queue.ts'
import type { Broadcaster } from './broadcast.ts'
import type { FeeSource } from './fees.ts'
import { unobserved, type RelayObserver } from './observer.ts'

/** The accounts of the relayer: they store and send relay calls, and pay for them. */
export interface Accounts {
  /**
   * Chooses an account that can pay, and has it store and send calls.
   *
   * @param run of one channel, in nonce order
   * @returns when the calls are stored: the account, and what became of each
   * @throws ServiceError SIGNERS_UNAVAILABLE, and what storing throws; nothing is stored then
   */
  store(
    run: readonly Omit<Acceptance, 'signer'>[],
    choice: {
      /** The most that the transactions can cost together. */
      readonly costWei: bigint
      /** The account that must send them; undefined: any. */
      readonly required: string | undefined
    },
  ): Promise<Handled & { readonly account: string }>
  /** Resolves when no account stores or sends. */
  idle(): Promise<void>
}

export interface AccountsOptions extends Omit<CommitOptions, 'nowMs' | 'fees' | 'holders' | 'bundles'> {
  readonly database: Database
  readonly broadcaster: Broadcaster
  readonly signers: Signers
  readonly fees: FeeSource
  /** Absent: every call has a transaction of its own. A bundle never takes more gas than a block holds. */
  readonly bundles?: BundleLimits | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Called when a call is stored under an account: the follower has to follow it until it is mined. */
  readonly onStored: (account: string) => void
  /** Absent: nothing is observed. */
  readonly observer?: RelayObserver
}

/** For this time an account is not chosen again that another process does not let go of. */
const HELD_MS = 2_000
/** The most batches of accounts in one database transaction. */
const MAX_COMMITS = 32

interface Batch {
  readonly acceptances: readonly Acceptance[]
  readonly holder: string | undefined
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { database, broadcaster, signers, log, observer = unobserved } = options
  const commitTogether = committer(options)
  const queues = new Map(
    signers.accounts.map((signer) => {
      const queue = new AccountQueue({
        signer,
        database,
        broadcaster,
        log,
        observer,
        commit: (acceptances, holder) => commitTogether({ acceptances, holder }),
      })
      return [signer.address, queue]
    }),
  )

  return {
    store: async (run, { costWei, required }) => {
      for (;;) {
        const { account: signer, done } = await signers.choose(costWei, required)
        const queue = queues.get(signer.address)
        if (!queue) throw new Error(`no queue for ${signer.address}`)
        try {
          const handled = await queue.submit(run.map((one) => ({ ...one, signer })))
          void handled.sent.then(done)
          return { ...handled, account: signer.address }
        } catch (error) {
          done()
          if (!(error instanceof KeyHeldError)) throw error
          signers.setAside(signer.address, HELD_MS)
          // Another account is taken, unless the calls before these bind to this one.
          if (required !== undefined) throw error
        }
      }
    },
    idle: async () => void (await Promise.all([...queues.values()].map((queue) => queue.idle()))),
  }
}

/** Accounts share a database transaction: their calls are stored together. */
function committer(options: AccountsOptions) {
  const { database, fees, clock, onStored, observer = unobserved } = options

  async function limitsNow(): Promise<BundleLimits | undefined> {
    if (!options.bundles) return undefined
    const blockGas = (await fees.blockGasLimit()) ?? options.bundles.maxGas
    return blockGas < options.bundles.maxGas ? { ...options.bundles, maxGas: blockGas } : options.bundles
  }

  async function commitBatches(batches: readonly Batch[]) {
    const currentFees = await fees.current()
    const bundles = await limitsNow()
    const acceptances = batches.flatMap((batch) => batch.acceptances)
    const holders = new Map(
      batches.flatMap((batch) => batch.acceptances.map(({ signer }) => [signer.address, batch.holder ?? ''])),
    )
    const committed = await observer.store(acceptances, () =>
      commit(database.db, acceptances, {
        ...options,
        nowMs: clock.nowMs(),
        fees: currentFees,
        bundles,
        ...(database.isShared && { holders }),
      }),
    )
    const stored = acceptances.filter((_, index) => committed[index]?.kind === 'stored')
    for (const address of new Set(stored.map(({ signer }) => signer.address))) onStored(address)
    let next = 0
    return batches.map((batch) => committed.slice(next, (next += batch.acceptances.length)))
  }

  return microBatch(commitBatches, { maxItems: MAX_COMMITS })
}
