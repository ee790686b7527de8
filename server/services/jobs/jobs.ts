import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss, type Job, type JobInsert } from 'pg-boss'
import type { Logger } from 'pino'
import { sql } from 'kysely'
import { jobsSchemaOf, type Database } from '../database/database.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'

/** Background work on one account at a time, in this process or another one on the same database. */
export interface Jobs {
  /** Asks for a look at an account. Several requests before the look count as one. */
  request(account: string): void
  /** Jobs of all processes on the database. */
  depth(): Promise<{ readonly ready: number; readonly deferred: number; readonly active: number }>
  /** Finishes the work that has begun, and takes no more. */
  close(): Promise<void>
}

export interface JobsOptions {
  readonly database: Database
  readonly log: Logger
  /** @returns whether something is left, and another look is wanted */
  readonly look: (account: string) => Promise<boolean>
  /** Seconds between two looks at an account that has work left. */
  readonly pauseSeconds: number
  /** Whether this process has all that work on the account may need. Processes may have different keys. */
  readonly isOurs: (account: string) => boolean
  /** Accounts that have work left, also of processes that are gone. */
  readonly accountsWithWork: () => Promise<readonly string[]>
  /** Opens the queue in the database. Default: pg-boss. */
  readonly openQueue?: typeof openBoss
}

/** What background work takes of pg-boss. */
export type JobQueue = Pick<
  PgBoss,
  'work' | 'offWork' | 'insert' | 'deleteQueuedJobs' | 'notifyWorker' | 'getQueueStats' | 'stop'
>

const QUEUE = 'follow'
const POLL_SECONDS = 0.5
/**
 * After this time the job of a dead process goes to another one. Until then a new request for the account does its
 * work.
 */
const EXPIRE_SECONDS = 60
/** A clock that has lost more milliseconds than this between two sweeps was set back. */
const SET_BACK_MS = 2_000
/** How often the sweep looks for work that no request is waiting for, in milliseconds. */
const SWEEP_MS = 5_000
/** How often a process works on an account that is not its own, in milliseconds. Perhaps no process has all that it needs. */
const FOREIGN_EVERY_MS = 10_000
const STOP_TIMEOUT_MS = 5_000
/** How often a failure that lasts is told of, in milliseconds. */
const REPEAT_MS = 60_000
/** The most requests that one statement stores. */
const MAX_INSERTS = 64

interface Data {
  readonly account: string
}

/** Starts pg-boss on the ledger's database, and asks for looks at accounts that have work left. */
export async function startJobs(options: JobsOptions): Promise<Jobs> {
  const { database, log, look, pauseSeconds, openQueue = openBoss } = options
  const boss = await openQueue(database, log)
  const requests = createRequests(boss, log)
  const isLeftToOthers = leaveToOthers(options)
  const failures = createFailureLog(log)

  /** @returns after how many seconds another look is wanted; undefined: nothing is left */
  async function work(account: string): Promise<number | undefined> {
    requests.forget(account)
    // This process polls again in half a second, so each other one polls before it.
    if (isLeftToOthers(account)) return 0
    try {
      const isWorkLeft = await look(account)
      failures.end(account)
      return isWorkLeft ? pauseSeconds : undefined
    } catch (err) {
      failures.tell(account, err)
      return pauseSeconds
    }
  }

  const worker = await boss.work<Data>(
    QUEUE,
    { batchSize: 16, pollingIntervalSeconds: POLL_SECONDS },
    async (jobs: Job<Data>[]) => {
      const accounts = jobs.map(({ data }) => data.account)
      const pauses = await Promise.all(accounts.map(work))
      await Promise.all(
        accounts.map(async (account, index) => {
          const seconds = pauses[index]
          if (seconds !== undefined) await requests.add(account, seconds)
        }),
      )
    },
  )

  const sweep = createSweep({ ...options, boss, requests, worker })
  await sweep()
  let sweeping = Promise.resolve()
  const timer = setInterval(() => void (sweeping = sweep()), SWEEP_MS)
  return {
    request: (account) => void requests.add(account, 0),
    depth: async () => {
      const { readyCount, deferredCount, activeCount } = await boss.getQueueStats(QUEUE)
      return { ready: readyCount, deferred: deferredCount, active: activeCount }
    },
    close: async () => {
      clearInterval(timer)
      // `stop` looks every 500 ms whether the worker has ended, while `offWork` hears of it.
      const ended = Promise.allSettled([requests.close(), boss.offWork(QUEUE), sweeping])
      await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
      await boss.stop({ graceful: false, close: true })
    },
  }
}

/**
 * Tells of an account that cannot be followed when that begins, when it changes, and every minute: the account is looked at
 * each second, and a node may be away for hours.
 */
function createFailureLog(log: Logger) {
  const told = new Map<string, { readonly reason: string; readonly atMs: number }>()
  return {
    tell: (account: string, err: unknown): void => {
      const [before, reason, atMs] = [told.get(account), String(err), performance.now()]
      if (before?.reason === reason && atMs - before.atMs < REPEAT_MS) return
      told.set(account, { reason, atMs })
      log.warn({ err, account }, 'an account could not be followed')
    },
    end: (account: string): void => void told.delete(account),
  }
}

/** @returns asks whether a process with all that the account needs shall work on it instead */
function leaveToOthers({ isOurs }: Pick<JobsOptions, 'isOurs'>): (account: string) => boolean {
  const workedOnMs = new Map<string, number>()
  return (account) => {
    if (isOurs(account)) return false
    const nowMs = performance.now()
    if (nowMs - (workedOnMs.get(account) ?? -Infinity) < FOREIGN_EVERY_MS) return true
    workedOnMs.set(account, nowMs)
    return false
  }
}

/** Looks for work that no request is waiting for, as after the end of a process, and asks for it. */
function createSweep({
  database,
  log,
  accountsWithWork,
  boss,
  requests,
  worker,
}: Pick<JobsOptions, 'database' | 'log' | 'accountsWithWork'> & {
  readonly boss: JobQueue
  readonly requests: ReturnType<typeof createRequests>
  /** pg-boss's id of what does the work. */
  readonly worker: string
}): () => Promise<void> {
  const wasSetBack = watchClocks(database)

  /**
   * A clock that is set back would stop background work for as long as it was ahead. Stored requests wait by the database's
   * clock, and block further requests for the same account; pg-boss pauses by this process's clock. So both are
   * dropped, and the sweep asks again. The same is done at the start, because a clock may have been set back before.
   */
  async function recoverFromClockSetBack(): Promise<void> {
    const isSetBack = await wasSetBack()
    if (isSetBack === false) return
    if (isSetBack) log.warn('a clock was set back: what waits for it is asked for anew')
    await boss.deleteQueuedJobs(QUEUE)
    requests.forgetAll()
    boss.notifyWorker(worker)
  }

  return async () => {
    try {
      await recoverFromClockSetBack()
      for (const account of await accountsWithWork()) void requests.add(account, 0)
    } catch (err) {
      log.warn({ err }, 'open work cannot be looked for')
    }
  }
}

async function openBoss(database: Database, log: Logger): Promise<JobQueue> {
  const schema = jobsSchemaOf(database.schema)
  const { rows: made } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(database.db)
  const boss = new PgBoss({
    ...database.boss,
    schema,
    // An administrator may have made it for a user who may make none.
    createSchema: made.length === 0,
    max: 2,
    schedule: false,
    superviseIntervalSeconds: 15,
    monitorIntervalSeconds: 15,
  })
  boss.on('error', (err) => log.warn({ err }, 'background work'))
  await boss.start()
  // One request waits for each account. Running ones do not count, because the process of one may have died.
  await boss.createQueue(QUEUE, {
    policy: 'short',
    retryLimit: 0,
    expireInSeconds: EXPIRE_SECONDS,
    deleteAfterSeconds: 60,
  })
  return boss
}

/** Asks for looks at accounts: once for each account while its request waits. */
function createRequests(boss: JobQueue, log: Logger) {
  // A statement costs as much for one as for several.
  const insert = microBatch(
    async (wanted: readonly JobInsert<Data>[]) => {
      await boss.insert(QUEUE, [...wanted])
      return wanted.map(() => undefined)
    },
    { maxItems: MAX_INSERTS },
  )
  let isClosed = false
  const underWay = new Set<Promise<void>>()
  /** Accounts with a waiting request, and the timer that forgets it: another process may do that work unseen. */
  const waiting = new Map<string, NodeJS.Timeout>()
  function forget(account: string): void {
    clearTimeout(waiting.get(account))
    waiting.delete(account)
  }
  async function store(account: string, startAfterSeconds: number): Promise<void> {
    try {
      await insert({ data: { account }, singletonKey: account, startAfter: startAfterSeconds })
    } catch (err) {
      // The next sweep asks again.
      log.warn({ err, account }, 'background work cannot be asked for')
      forget(account)
    }
  }
  return {
    forget,
    forgetAll: () => {
      for (const account of waiting.keys()) forget(account)
    },
    add: async (account: string, startAfterSeconds: number): Promise<void> => {
      if (isClosed || waiting.has(account)) return
      waiting.set(account, setTimeout(() => forget(account), (startAfterSeconds + 2) * 1000).unref())
      const stored = store(account, startAfterSeconds)
      underWay.add(stored)
      await stored
      underWay.delete(stored)
    },
    /** Takes no further requests, and waits until those under way are stored. */
    close: async (): Promise<void> => {
      isClosed = true
      await Promise.all(underWay)
    },
  }
}

/**
 * Compares the clocks of the database and of this process with the monotonic one.
 *
 * @returns asks whether one of them was set back since it was asked last; undefined at the first time
 */
function watchClocks({ db }: Database): () => Promise<boolean | undefined> {
  let before: Readonly<Record<'databaseMs' | 'calendarMs' | 'monotonicMs', number>> | undefined
  return async () => {
    const { rows } = await sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(db)
    const now = { databaseMs: Number(rows[0]?.ms), calendarMs: Date.now(), monotonicMs: performance.now() }
    const last = before
    before = now
    if (!last) return undefined
    const leastMs = now.monotonicMs - last.monotonicMs - SET_BACK_MS
    return now.databaseMs - last.databaseMs < leastMs || now.calendarMs - last.calendarMs < leastMs
  }
}
