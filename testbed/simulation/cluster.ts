import { Kysely, PostgresDialect } from 'kysely'
import type { QueryResult } from 'pg'
import { KeyHeldError, schemaOf, type Database } from '../../server/services/database/database.ts'
import { migrate } from '../../server/services/database/migrate.ts'
import { createLastingPGlite, PGliteStream, startPGlite } from '../../server/services/database/pglite.ts'
import { DatabaseAwayError, FROZEN_MS } from '../../server/services/database/postgres-pool.ts'
import type { Queries, Tables } from '../../server/services/database/tables.ts'
import { CHAIN_ID } from './chain.ts'
import type { Random } from './random.ts'
import type { Process, WorldTime } from './world-time.ts'

/** The real database. All runs of a process share it, because making one takes as long as many runs. */
export interface Storage {
  /** Runs a statement immediately. */
  run(text: string, values?: readonly unknown[]): Promise<QueryResult>
  /** Runs a query that belongs to no server and changes nothing. */
  readonly db: Queries
}

const TABLES = ['profiles', 'budgets', 'signer_accounts', 'relays', 'attempts', 'facts']
/** After this number of runs, the rows of earlier runs are removed. */
const CLEAR_EVERY = 100

/** Opens PGlite in memory, with the tables of the server, and one connection to it. */
export async function openStorage(): Promise<Storage> {
  const [pglite, { default: pg }] = await Promise.all([startPGlite(undefined, true), import('pg')])
  const schema = schemaOf(CHAIN_ID)
  await pglite.exec(`set search_path to ${schema}; set enable_seqscan = off`)
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    stream: () => new PGliteStream(createLastingPGlite(pglite)),
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  await migrate(db, schema)
  const client = await pool.connect()
  const single = { connect: async () => ({ query: client.query.bind(client), release: () => {} }), end: async () => {} }
  const names = new Map<string, string>()
  return {
    run: (text, values = []) => {
      if (values.length === 0) return client.query(text)
      // Parsing and planning a statement takes longer than executing it.
      const name = names.get(text) ?? `statement${names.size}`
      names.set(text, name)
      return client.query({ name, text, values: [...values] })
    },
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: single as never }) }),
  }
}

let runs = 0

/** Removes the rows that an earlier run has left. */
export async function emptyStorage({ run }: Storage): Promise<void> {
  await run(TABLES.map((table) => `delete from ${table}`).join('; '))
  if (++runs % CLEAR_EVERY === 0) await run(`truncate ${TABLES.join(', ')}`)
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly resolve: (result: QueryResult) => void
  readonly reject: (error: unknown) => void
}

/** One connection of a server. */
interface Session {
  readonly process: Process
  isOver: boolean
  /** Whether its server has lost the connection. The database may not know that yet. */
  isBroken: boolean
  isInTransaction: boolean
  /** Time of its last statement. The database ends sessions that hold locks and send nothing. */
  heardMs: number
  readonly keys: Set<string>
}

const BEGIN = 'begin'
const ENDS: ReadonlySet<string> = new Set(['commit', 'rollback'])
/** The longest wait for a lock that another session holds; see `postgres-pool.ts`. */
const LOCK_WAIT_MS = 2_000
/** The slowest way of a statement, and of its answer. */
const SLOWEST_MS = 2

export interface ClusterOptions {
  readonly time: WorldTime
  readonly random: Random
  readonly storage: Storage
  /** Whether several servers use it, like PostgreSQL. Otherwise one server uses it, like an embedded PGlite. */
  readonly isShared: boolean
}

/**
 * The database as servers see it: real SQL, with sessions that a crash can end between any two statements. Committed changes
 * stay, and uncommitted changes are lost.
 *
 * PGlite has one session. So a transaction has the database to itself, and the statements of other sessions wait for its end.
 * They come before it or after it, and never in between. Advisory locks and the limits of `postgres-pool.ts` are modelled here.
 */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #sessions = new Set<Session>()
  #owner: Session | undefined
  #waiting: { readonly session: Session; readonly run: () => Promise<void> }[] = []
  /** By key: the holder of the lock, and those who wait, the first one first. */
  readonly #keys = new Map<string, { session: Session; waiting: { session: Session; grant: () => void }[] }>()
  /** While a server is cut off, statements get lost on their way to the database or back. */
  isCutOff = false

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** Opens the database for a server. */
  open(process: Process): Database {
    const { isShared } = this.#options
    const pool = new SessionPool(isShared ? Infinity : 1, () => this.#connect(process))
    const clientOf = (session: Session, release = () => {}) => ({
      query: (text: string, values: readonly unknown[] = []) => this.#query(session, text, values),
      release,
    })
    const through = (connect: () => Promise<unknown>) =>
      new Kysely<Tables>({ dialect: new PostgresDialect({ pool: { connect, end: async () => {} } as never }) })
    const db = through(async () => {
      const session = await pool.take()
      return clientOf(session, () => pool.giveBack(session))
    })
    const tails = new Map<string, Promise<unknown>>()
    return {
      db,
      schema: schemaOf(CHAIN_ID),
      isShared,
      boss: { backend: 'pglite', db: { executeSql: () => Promise.reject(new Error('there is no pg-boss here')) } },
      exclusively: async (key, work) => {
        if (isShared) {
          const session = await pool.take()
          const own = through(async () => clientOf(session))
          return this.#underLock(session, key, () => work(own)).finally(() => pool.giveBack(session))
        }
        const before = tails.get(key) ?? Promise.resolve()
        const result = before.then(() => work(db))
        const tail = result.catch(() => {})
        tails.set(key, tail)
        void tail.then(() => tails.get(key) === tail && tails.delete(key))
        return result
      },
      assertWritable: async () => {},
      close: async () => {},
    }
  }

  /** Ends the connections of a dead process. Statements that it sent before arrive before the end of the connection. */
  crashed(process: Process): void {
    this.#options.time.after(SLOWEST_MS, undefined, async () => {
      for (const session of [...this.#sessions].filter((one) => one.process === process)) await this.#end(session)
    })
  }

  /** The process sleeps, so it loses its locks after a while. */
  fellAsleep(process: Process, ms: number): void {
    const { time, isShared } = this.#options
    if (!isShared || ms < FROZEN_MS) return
    time.after(FROZEN_MS, undefined, async () => {
      for (const session of [...this.#sessions].filter((one) => one.process === process)) {
        if (session.isInTransaction || session.keys.size > 0) await this.#end(session)
      }
    })
  }

  /** Whether a transaction has the database to itself. */
  get isBusy(): boolean {
    return this.#owner !== undefined
  }

  /** The number of open sessions. */
  openSessions(): number {
    return this.#sessions.size
  }

  #connect(process: Process): Session {
    const { time } = this.#options
    const session = {
      process,
      isOver: false,
      isBroken: false,
      isInTransaction: false,
      heardMs: time.nowMs,
      keys: new Set<string>(),
    }
    this.#sessions.add(session)
    return session
  }

  /** Sends a statement of a session, waits for its turn, executes it, and sends the answer back. */
  #query(session: Session, text: string, values: readonly unknown[]): Promise<QueryResult> {
    const { time, random } = this.#options
    return new Promise((resolve, reject) => {
      const statement = { text, values, resolve, reject }
      if (session.isBroken) return this.#answer(session, () => reject(away(false)))
      const isLost = this.isCutOff && random.chance(0.5)
      time.after(random.between(0.05, SLOWEST_MS), undefined, async () => {
        // A statement that was on its way when its process died may be executed or not.
        if (!session.process.isAlive && random.chance(0.5)) return
        if (isLost) {
          this.#break(session)
          return this.#answer(session, () => reject(away(true)))
        }
        await this.#take(session, statement)
      })
    })
  }

  async #take(session: Session, statement: Statement): Promise<void> {
    const { time } = this.#options
    if (session.isOver) return this.#answer(session, () => statement.reject(away(true)))
    if (this.#owner !== undefined && this.#owner !== session) {
      const entry = { session, run: () => this.#take(session, statement) }
      this.#waiting.push(entry)
      time.after(LOCK_WAIT_MS, undefined, () => {
        if (!this.#waiting.includes(entry)) return
        this.#waiting = this.#waiting.filter((one) => one !== entry)
        this.#answer(session, () => statement.reject(away(false)))
      })
      return
    }
    await this.#execute(session, statement)
  }

  async #execute(session: Session, { text, values, resolve, reject }: Statement): Promise<void> {
    const { time, storage, random } = this.#options
    session.heardMs = time.nowMs
    if (text === BEGIN) {
      this.#owner = session
      session.isInTransaction = true
    }
    const outcome = await storage.run(text, values).then(
      (result) => ({ result: inAnyOrder(text, result, random), error: undefined }),
      (error: unknown) => ({ result: undefined, error }),
    )
    time.log(`db ${session.process.name} ${text.replaceAll(/\s+/g, ' ').slice(0, 60)} ${summary(outcome)}`)
    if (ENDS.has(text)) await this.#releaseTransaction(session)
    // The statement is executed, but its answer may still get lost.
    if (this.isCutOff && random.chance(0.5)) {
      await this.#end(session)
      return this.#answer(session, () => reject(away(true)))
    }
    this.#answer(session, () => (outcome.result ? resolve(outcome.result) : reject(outcome.error)))
  }

  #answer({ process }: Session, run: () => void): void {
    const { time, random } = this.#options
    time.after(random.between(0.05, SLOWEST_MS), process, run)
  }

  async #releaseTransaction(session: Session): Promise<void> {
    session.isInTransaction = false
    if (this.#owner === session) this.#owner = undefined
    const waiting = this.#waiting.splice(0)
    for (const [index, { run }] of waiting.entries()) {
      await run()
      if (this.#owner !== undefined) {
        this.#waiting.push(...waiting.slice(index + 1))
        return
      }
    }
  }

  /** The server has lost the connection. The database notices that immediately, or at its next check. */
  #break(session: Session): void {
    const { time, random } = this.#options
    session.isBroken = true
    time.after(random.chance(0.5) ? 0 : FROZEN_MS, undefined, () => this.#end(session))
  }

  async #end(session: Session): Promise<void> {
    if (session.isOver) return
    const { time, storage } = this.#options
    session.isOver = true
    this.#sessions.delete(session)
    for (const key of [...session.keys]) this.#unlock(session, key)
    this.#waiting = this.#waiting.filter((one) => one.session !== session)
    if (this.#owner !== session) return
    time.log(`db ${session.process.name} is gone: rolled back`)
    await storage.run('rollback')
    await this.#releaseTransaction(session)
  }

  /** As `underLock` of `database.ts`, with the locks of this cluster. */
  async #underLock<Result>(session: Session, key: string, work: () => Promise<Result>): Promise<Result> {
    await this.#lock(session, key)
    try {
      return await work()
    } finally {
      await new Promise<void>((resolve) => this.#answer(session, resolve))
      if (!session.isBroken) this.#unlock(session, key)
    }
  }

  #lock(session: Session, key: string): Promise<void> {
    const { time, random } = this.#options
    return new Promise((resolve, reject) => {
      time.after(random.between(0.05, SLOWEST_MS), undefined, () => {
        if (session.isOver || session.isBroken) return this.#answer(session, () => reject(away(false)))
        const held = this.#keys.get(key)
        const grant = () => {
          session.keys.add(key)
          this.#answer(session, resolve)
        }
        if (!held) {
          this.#keys.set(key, { session, waiting: [] })
          return grant()
        }
        const entry = { session, grant }
        held.waiting.push(entry)
        time.after(LOCK_WAIT_MS, undefined, () => {
          if (!held.waiting.includes(entry)) return
          held.waiting = held.waiting.filter((one) => one !== entry)
          this.#answer(session, () => reject(new KeyHeldError(key, { cause: new Error('lock timeout') })))
        })
      })
    })
  }

  #unlock(session: Session, key: string): void {
    if (!session.keys.delete(key)) return
    const held = this.#keys.get(key)
    const next = held?.waiting.find((one) => !one.session.isOver)
    if (!held || !next) return void this.#keys.delete(key)
    held.waiting = held.waiting.filter((one) => one !== next && !one.session.isOver)
    held.session = next.session
    next.grant()
  }
}

/** The sessions of one server. A free session is used again. */
class SessionPool {
  readonly #most: number
  readonly #open: () => Session
  readonly #free: Session[] = []
  readonly #waiting: ((session: Session) => void)[] = []
  #count = 0

  constructor(most: number, open: () => Session) {
    this.#most = most
    this.#open = open
  }

  async take(): Promise<Session> {
    const free = this.#free.pop()
    if (free) return free
    if (this.#count >= this.#most) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#count++
    return this.#open()
  }

  giveBack(session: Session): void {
    const next = this.#waiting.shift()
    const live = session.isOver || session.isBroken ? this.#open() : session
    if (next) return next(live)
    this.#free.push(live)
  }
}

const away = (isUnknown: boolean) => new DatabaseAwayError(new Error('the connection is gone'), isUnknown)

/** If a statement asks for no order, its rows come in a random order. */
function inAnyOrder(text: string, result: QueryResult, random: Random): QueryResult {
  if (!text.startsWith('select') || text.includes('order by') || (result.rows?.length ?? 0) < 2) return result
  const keyed = (result.rows as object[]).map((row) => ({ row, key: JSON.stringify(row) }))
  const rows = keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ row }) => row)
  return { ...result, rows: random.shuffled(rows) }
}

function summary({ result, error }: { result: QueryResult | undefined; error: unknown }): string {
  if (result) return `${result.rowCount ?? 0} rows`
  return `fails: ${error instanceof Error ? error.message.slice(0, 80) : String(error)}`
}
