import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Database, Queries } from '../database/database.ts'
import type { Acceptance, Committed } from '../ledger/acceptance.ts'
import { NotHeldError, takeSigner } from '../ledger/store-relays.ts'
import { noteOffered, unsentOf, type Unsent } from '../ledger/unsent.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import type { Broadcaster } from './broadcast.ts'
import { unobserved, type RelayObserver } from './observer.ts'

/** What a lane answers: first that the call is stored, later that a node has it. */
export interface LaneAnswer {
  readonly committed: Committed
  /** Resolves when a node has the transaction, or did not want it for now: it is stored, and not given up. */
  readonly sent: Promise<void>
}

/** One account's way to the chain: has calls stored, and sends them in the order of its nonces. */
export interface Lane {
  /**
   * @param acceptances of one channel, in nonce order, all of this account
   * @throws what storing throws; nothing is stored then
   */
  submit(acceptances: readonly Acceptance[]): Promise<LaneAnswer[]>
  /** Resolves when everything that was submitted is through. */
  idle(): Promise<void>
}

export interface LaneOptions {
  readonly signer: SignerAccount
  readonly database: Database
  readonly broadcaster: Broadcaster
  readonly log: Logger
  /** Default: nobody looks on. */
  readonly observer?: RelayObserver
  /**
   * Stores calls; many lanes share a transaction.
   *
   * @param holder under which the lane has taken its account; undefined: there is no other process
   * @throws NotHeldError another process has taken it since: nothing is stored
   */
  readonly commit: (acceptances: readonly Acceptance[], holder: string | undefined) => Promise<Committed[]>
}

/** After this time another process gets its turn with the account. */
const MAX_HOLD_MS = 250
/** Taking an account from a shared database costs more than it does to wait a little for its next call. */
const IDLE_HOLD_MS = 20
/** The most calls that are stored together. */
const MAX_TOGETHER = 64

/** What locks an account, in the sense of `Database.exclusively`. */
export const laneKey = (account: string) => `signer:${account}`

interface Submission {
  readonly acceptances: readonly Acceptance[]
  readonly resolve: (answers: LaneAnswer[]) => void
  readonly reject: (error: unknown) => void
}

interface Sending extends Unsent {
  readonly done: () => void
}

interface Stored extends Sending {
  readonly accountNonce: number
}

/**
 * While the lane holds the account, it stores the next calls while those before them are being sent. It lets go only
 * when everything stored has been offered to a node: whoever holds the account next finds no gap before its nonces.
 */
export function createLane({ signer, database, broadcaster, log, observer = unobserved, commit }: LaneOptions): Lane {
  const waiting: Submission[] = []
  let running: Promise<void> | undefined
  let wake: (() => void) | undefined
  /** The account's nonce below which all was offered to a node: by this process, or by others before it stored more. */
  let offeredBelow = 0
  /** The account's nonce behind the last that this process has stored. */
  let storedBelow = 0

  /** What the ledger knows of it by this process. */
  let notedBelow = 0

  async function note(db: Queries): Promise<void> {
    try {
      await noteOffered(db, signer.address, offeredBelow)
      notedBelow = offeredBelow
    } catch (err) {
      log.warn({ err, signer: signer.address }, 'what was sent cannot be noted')
    }
  }

  function takeBatch(): Submission[] {
    let size = 0
    const fits = waiting.findIndex(({ acceptances }, index) => {
      size += acceptances.length
      return index > 0 && size > MAX_TOGETHER
    })
    return waiting.splice(0, fits === -1 ? waiting.length : fits)
  }

  /** @throws NotHeldError; the calls wait again */
  async function storeBatch(batch: readonly Submission[], holder: string | undefined): Promise<Stored[]> {
    let outcomes: Committed[]
    try {
      outcomes = await commit(
        batch.flatMap(({ acceptances }) => acceptances),
        holder,
      )
    } catch (error) {
      if (error instanceof NotHeldError) {
        waiting.unshift(...batch)
        throw error
      }
      for (const { reject } of batch) reject(error)
      return []
    }
    const sendings: Stored[] = []
    let next = 0
    for (const { acceptances, resolve } of batch) {
      resolve(
        outcomes.slice(next, (next += acceptances.length)).map((committed) => {
          if (committed.kind !== 'stored') return { committed, sent: Promise.resolve() }
          const { promise: sent, resolve: done } = Promise.withResolvers<void>()
          storedBelow = Math.max(storedBelow, committed.accountNonce + 1)
          sendings.push({ ...committed, done })
          return { committed, sent }
        }),
      )
    }
    return sendings
  }

  /** @returns whether a node has all of them */
  async function sendAll(sendings: readonly Sending[]): Promise<boolean> {
    const hashes = sendings.map(({ hash }) => hash)
    const { taken } = await observer.send(hashes, () => broadcaster.send(sendings, (index) => sendings[index]?.done()))
    // The background work sends the others.
    for (const { done } of sendings.slice(taken)) done()
    return taken === sendings.length
  }

  async function hold(): Promise<void> {
    await database.exclusively(laneKey(signer.address), async (db) => {
      // A process that was frozen meanwhile has lost the account, and must not store as if it had it.
      const holder = database.isShared ? randomUUID() : undefined
      if (holder !== undefined) await takeSigner(db, signer.address, holder)
      const untilMs = performance.now() + MAX_HOLD_MS
      const unsent: Sending[] = []
      let isFirst = true
      let isWell = true
      let sending: Promise<void> | undefined

      /** The first nonce tells whether nodes may lack some before it: left by another process, or by this one. */
      async function store(): Promise<void> {
        const stored = await storeBatch(takeBatch(), holder)
        const [first] = stored
        if (isFirst && first && first.accountNonce > offeredBelow) {
          const range = { from: offeredBelow, below: first.accountNonce }
          try {
            const leftBehind = await unsentOf(db, signer.address, range)
            unsent.push(...leftBehind.map((one) => ({ ...one, done: () => {} })))
          } catch (err) {
            log.warn({ err, signer: signer.address }, 'what was left unsent cannot be read')
            isWell = false
          }
        }
        if (first) isFirst = false
        unsent.push(...stored)
      }

      /** Sends what has gathered, and what gathers meanwhile. */
      async function send(): Promise<void> {
        while (unsent.length > 0) {
          const batch = unsent.splice(0)
          // After one that no node took: answered, and left to the background work.
          if (!isWell) for (const { done } of batch) done()
          else if (!(await sendAll(batch))) isWell = false
        }
      }

      let isLost = false
      while (!isLost) {
        // Forgotten only when it is through: it may have nothing to wait for.
        if (unsent.length > 0) sending ??= send().finally(() => (sending = undefined))
        const isOver = performance.now() >= untilMs
        if (waiting.length > 0 && !isOver) {
          await store().catch((error: unknown) => {
            if (!(error instanceof NotHeldError)) throw error
            isLost = true
          })
        } else if (sending) await Promise.race([sending, submitted()])
        else if (isOver || !isWell || !database.isShared || !(await submittedWithin(IDLE_HOLD_MS))) break
      }
      await sending
      if (isWell) offeredBelow = Math.max(offeredBelow, storedBelow)
      // Another process must not find it unsent. Where there is none, nobody looks.
      if (database.isShared && offeredBelow > notedBelow) await note(db)
    })
  }

  /** Resolves when something is submitted. */
  function submitted(): Promise<void> {
    return new Promise((resolve) => (wake = resolve))
  }

  /** @returns whether something was */
  async function submittedWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([submitted(), isLate])
    clearTimeout(timer)
    return waiting.length > 0
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      try {
        await hold()
      } catch (error) {
        log.warn({ err: error, signer: signer.address }, 'a signer cannot be held')
        for (const { reject } of waiting.splice(0)) reject(error)
      }
    }
    running = undefined
  }

  return {
    submit: (acceptances) =>
      new Promise((resolve, reject) => {
        waiting.push({ acceptances, resolve, reject })
        wake?.()
        // In the next round of I/O: calls that were simulated together are stored together.
        running ??= new Promise<void>((turn) => setImmediate(turn)).then(run)
      }),
    idle: async () => {
      while (running) await running
    },
  }
}
