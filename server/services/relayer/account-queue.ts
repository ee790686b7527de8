import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Database, Queries } from '../database/database.ts'
import type { Acceptance, Committed } from '../ledger/draft.ts'
import { NotHeldError, takeSigner } from '../ledger/commit.ts'
import { noteOffered, unsentOf } from '../ledger/signer-accounts.ts'
import type { SignerAccount } from '../signers/signers.ts'
import { AccountSender } from './account-sender.ts'
import type { Broadcaster } from './broadcast.ts'
import { unobserved, type RelayObserver } from './observer.ts'

/** What became of calls that were handed to an account. */
export interface Handled {
  /** One for each call. */
  readonly committed: readonly Committed[]
  /** Resolves when nodes have the calls that were stored, or when these are left to the follower. */
  readonly sent: Promise<void>
}

export interface AccountQueueOptions {
  readonly signer: SignerAccount
  readonly database: Database
  readonly broadcaster: Broadcaster
  readonly log: Logger
  /** Absent: nothing is observed. */
  readonly observer?: RelayObserver
  /**
   * Stores calls.
   *
   * @param holder the name under which this process has taken the account; undefined: there is no other process
   * @throws NotHeldError another process has taken the account since: nothing is stored
   */
  readonly commit: (acceptances: readonly Acceptance[], holder: string | undefined) => Promise<Committed[]>
}

/** After this time another process gets its turn with the account. */
const MAX_HOLD_MS = 250
/** Taking an account from a shared database costs more than it does to wait a little for its next call. */
const IDLE_HOLD_MS = 20
/** The most calls that are stored together. */
const MAX_TOGETHER = 64

/** The key under which an account is held, in the sense of `Database.exclusively`. */
export const accountKey = (account: string) => `signer:${account}`

interface Submission {
  readonly acceptances: readonly Acceptance[]
  readonly resolve: (handled: Handled) => void
  readonly reject: (error: unknown) => void
}

/** How far the nonces of an account have come, as this process knows it. Each number stands for all nonces below it. */
interface Watermarks {
  /** Stored by this process. */
  storedBelow: number
  /** Offered to a node, by this process, or by others before this one stored more. */
  offeredBelow: number
  /** Noted in the ledger as offered, by this process. */
  notedBelow: number
}

/** What lasts as long as the account is held. */
interface Hold {
  readonly db: Queries
  readonly holder: string | undefined
  readonly sender: AccountSender
  hasStored: boolean
}

/**
 * The calls that wait for one account of the relayer. To store and send them, the queue holds the account, so that no
 * other process stores under its nonces. While it holds the account, it stores the next calls while those before them are
 * being sent. It lets go only when everything stored was offered to a node: whoever holds the account next finds no gap
 * before its nonces.
 */
export class AccountQueue {
  readonly #options: AccountQueueOptions
  readonly #waiting: Submission[] = []
  readonly #nonces: Watermarks = { storedBelow: 0, offeredBelow: 0, notedBelow: 0 }
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(options: AccountQueueOptions) {
    this.#options = options
  }

  /**
   * @param acceptances of one channel, in nonce order, all of this account
   * @returns when they are stored
   * @throws KeyHeldError another process does not let go of the account; what storing throws. Nothing is stored then
   */
  submit(acceptances: readonly Acceptance[]): Promise<Handled> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ acceptances, resolve, reject })
      this.#wake?.()
      // In the next round of I/O: calls that were simulated together are stored together.
      this.#running ??= new Promise<void>((turn) => setImmediate(turn)).then(() => this.#run())
    })
  }

  /** Resolves when everything that was submitted is stored, and sent or left to the follower. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    const { signer, database, broadcaster, log, observer = unobserved } = this.#options
    while (this.#waiting.length > 0) {
      try {
        await database.exclusively(accountKey(signer.address), async (db) => {
          // A process that was frozen meanwhile has lost the account, and must not store as if it had it.
          const holder = database.isShared ? randomUUID() : undefined
          if (holder !== undefined) await takeSigner(db, signer.address, holder)
          await this.#hold({ db, holder, sender: new AccountSender({ broadcaster, observer }), hasStored: false })
        })
      } catch (error) {
        log.warn({ err: error, signer: signer.address }, 'a signer cannot be held')
        for (const { reject } of this.#waiting.splice(0)) reject(error)
      }
    }
    this.#running = undefined
  }

  async #hold(hold: Hold): Promise<void> {
    const { database } = this.#options
    const { sender } = hold
    const untilMs = performance.now() + MAX_HOLD_MS
    for (;;) {
      const isOver = performance.now() >= untilMs
      if (this.#waiting.length > 0 && !isOver) {
        if (!(await this.#store(hold))) break
      } else if (sender.sending) await Promise.race([sender.sending, this.#submitted()])
      else if (isOver || sender.isStopped || !database.isShared || !(await this.#submittedWithin(IDLE_HOLD_MS))) break
    }
    await sender.sending
    if (!sender.isStopped) this.#nonces.offeredBelow = Math.max(this.#nonces.offeredBelow, this.#nonces.storedBelow)
    // The next holder, in another process, does not offer again what is noted. Where there is no other, nobody looks.
    if (database.isShared && this.#nonces.offeredBelow > this.#nonces.notedBelow) await this.#noteOffered(hold.db)
  }

  /** Stores the calls that wait, and has them sent. @returns false when another process has taken the account: they wait */
  async #store(hold: Hold): Promise<boolean> {
    const batch = this.#takeBatch()
    const acceptances = batch.flatMap((submission) => submission.acceptances)
    let committed: readonly Committed[]
    try {
      committed = await this.#options.commit(acceptances, hold.holder)
    } catch (error) {
      if (error instanceof NotHeldError) {
        this.#waiting.unshift(...batch)
        return false
      }
      for (const { reject } of batch) reject(error)
      return true
    }
    const stored = committed.filter(isStored)
    if (stored[0] && !hold.hasStored) {
      hold.hasStored = true
      await this.#sendLeftBehind(hold, stored[0].accountNonce)
    }
    this.#nonces.storedBelow = Math.max(this.#nonces.storedBelow, ...stored.map((one) => one.accountNonce + 1))
    let next = 0
    for (const { acceptances: own, resolve } of batch) {
      const ownCommitted = committed.slice(next, (next += own.length))
      resolve({ committed: ownCommitted, sent: hold.sender.send(ownCommitted.filter(isStored)) })
    }
    return true
  }

  /** Sends what lies before the first nonce of a hold and may lack at the nodes: another process, or this one, left it. */
  async #sendLeftBehind({ db, sender }: Hold, firstNonce: number): Promise<void> {
    const { signer, log } = this.#options
    const { offeredBelow } = this.#nonces
    if (firstNonce <= offeredBelow) return
    try {
      void sender.send(await unsentOf(db, signer.address, { from: offeredBelow, below: firstNonce }))
    } catch (err) {
      log.warn({ err, signer: signer.address }, 'what was left unsent cannot be read')
      sender.stop()
    }
  }

  #takeBatch(): Submission[] {
    let size = 0
    const fits = this.#waiting.findIndex(({ acceptances }, index) => {
      size += acceptances.length
      return index > 0 && size > MAX_TOGETHER
    })
    return this.#waiting.splice(0, fits === -1 ? this.#waiting.length : fits)
  }

  async #noteOffered(db: Queries): Promise<void> {
    const { signer, log } = this.#options
    const { offeredBelow } = this.#nonces
    try {
      await noteOffered(db, signer.address, offeredBelow)
      this.#nonces.notedBelow = offeredBelow
    } catch (err) {
      log.warn({ err, signer: signer.address }, 'what was sent cannot be noted')
    }
  }

  /** Resolves when calls are submitted. */
  #submitted(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  /** @returns whether calls were submitted in this time */
  async #submittedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([this.#submitted(), isLate])
    clearTimeout(timer)
    return this.#waiting.length > 0
  }
}

type Stored = Extract<Committed, { readonly kind: 'stored' }>

const isStored = (committed: Committed): committed is Stored => committed.kind === 'stored'
