import type { PGlite } from '@electric-sql/pglite'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Db as BossDatabase } from 'pg-boss'
import { ServiceError } from '../../core/errors.ts'
import { openDatabaseFolder, type DatabaseFolder, folderError } from './database-folder.ts'
import { migrate } from './migrate.ts'
import { PGliteStream } from './pglite-stream.ts'
import { startUpkeep } from './pglite-upkeep.ts'
import { FROZEN_MS, openPool, sqlStateOf } from './postgres-pool.ts'
import { startPGlite } from './start-pglite.ts'
import type { Queries, Tables } from './tables.ts'
import { createWriteProbe } from './write-probe.ts'

export type { Queries } from './tables.ts'

export interface DatabaseOptions {
  /** URL of a PostgreSQL server; null: PGlite in this process. */
  readonly url: string | null
  /** Where PGlite keeps its files; null: in memory. */
  readonly folder: string | null
  /** Schema (namespace) of the tables; one per chain. */
  readonly schema: string
  /** The most connections to a PostgreSQL server. */
  readonly poolSize: number
  /** How often dead rows are cleared away in PGlite; a PostgreSQL server does it by itself. Default: every ten minutes. */
  readonly upkeepEveryMs?: number
}

/** The schema of a chain's ledger: ledgers of several chains may lie in one database. */
export const schemaOf = (chainId: bigint) => `touchstone_${chainId}`

/** Where pg-boss keeps its tables, beside those of a schema. */
export const jobsSchemaOf = (schema: string) => `${schema}_jobs`

/** The tables of one schema, in PGlite or on a PostgreSQL server. */
export interface Database {
  readonly db: Queries
  readonly schema: string
  /** Whether other processes may use it at the same time. */
  readonly isShared: boolean
  /** For pg-boss: the same database. */
  readonly boss: { readonly backend: 'pglite' | 'postgres'; readonly db: BossDatabase }
  /**
   * Runs `work` while nobody else, in this process or another one on the same database, runs with the same key.
   * A process that dies lets go at once, one that is frozen after some seconds. `work` must query through the `db` that
   * it is given.
   *
   * @throws KeyHeldError when another one has the key for too long
   */
  exclusively<Result>(key: string, work: (db: Queries) => Promise<Result>): Promise<Result>
  /** Whether a commit is taken and lasts; looked at every few seconds, however often it is asked. @throws when not */
  assertWritable(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @throws OperatorError; what the driver throws when the server cannot be reached
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url !== null) return openPostgres(options, options.url)
  const folder = options.folder === null ? undefined : await openDatabaseFolder(options.folder)
  return broughtUpToDate(await openPGlite(options, folder), folder)
}

async function broughtUpToDate(database: Database, folder?: DatabaseFolder): Promise<Database> {
  try {
    await migrate(database.db, database.schema)
    // Now, when nobody waits: on a large ledger it takes seconds.
    if (folder) await sql`vacuum`.execute(database.db)
    await folder?.finish()
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

/** Somebody else has the key of `Database.exclusively`. */
export class KeyHeldError extends ServiceError {
  constructor(key: string, options: ErrorOptions) {
    super('UPSTREAM_UNAVAILABLE', `another process holds ${key}`, { ...options, retryAfterSeconds: 1 })
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
const BOSS_POOL_SIZE = 2
const UPKEEP_EVERY_MS = 600_000

/** @throws OperatorError what lies in the folder is damaged */
async function startIn(folder: DatabaseFolder): Promise<PGlite> {
  try {
    return await startPGlite(folder.data, folder.isNew)
  } catch (cause) {
    folder.release()
    const problem = 'cannot be opened: the database in it is damaged, or its files belong to another user.'
    throw folderError(folder.path, `${problem} Mend the rights, or restore a backup`, { cause })
  }
}

async function openPGlite(
  { schema, upkeepEveryMs = UPKEEP_EVERY_MS }: DatabaseOptions,
  folder: DatabaseFolder | undefined,
): Promise<Database> {
  const [pglite, { default: pg }] = await Promise.all([
    folder ? startIn(folder) : startPGlite(undefined, true),
    import('pg'),
  ])
  // Nobody gathers statistics here, and without them the planner reads large tables from end to end.
  await pglite.exec(`set search_path to ${schema}; set enable_seqscan = off`)
  // One connection is all there is, and who has it has it alone.
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    stream: () => new PGliteStream(pglite),
    // The environment may say otherwise, of a server.
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  })
  // Who asks next hears of it; without a listener it would end the process.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const upkeep = startUpkeep(db, [schema, jobsSchemaOf(schema)], upkeepEveryMs)
  const tails = new Map<string, Promise<unknown>>()
  return {
    db,
    schema,
    isShared: false,
    boss: { backend: 'pglite', db: bossDatabase(pool) },
    // Nobody else has this database: a queue in this process is enough, and leaves its one connection free.
    exclusively: async (key, work) => {
      const before = tails.get(key) ?? Promise.resolve()
      const result = before.then(() => work(db))
      const tail = result.catch(() => {})
      tails.set(key, tail)
      void tail.then(() => tails.get(key) === tail && tails.delete(key))
      return result
    },
    assertWritable: createWriteProbe(db, () => folder?.assertWritable()),
    close: async () => {
      await upkeep.stop()
      await db.destroy()
      await pglite.close()
      folder?.release()
    },
  }
}

/** Jobs take their turn on the one connection like everybody else. */
function bossDatabase(pool: Pool): BossDatabase {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect()
      try {
        // Several statements have several results, one of which has rows.
        const results = [await client.query(text, values)].flat()
        return { rows: results.flatMap(({ rows }) => rows as unknown[]) }
      } catch (error) {
        // It may have begun a transaction of its own. What went wrong first tells more than that this fails, too.
        await client.query('rollback').catch(() => {})
        throw error
      } finally {
        client.release()
      }
    },
  }
}

async function openPostgres({ schema, poolSize }: DatabaseOptions, url: string): Promise<Database> {
  await migratePostgres(url, schema)
  const pool = await openPool({ url, max: poolSize, name: 'touchstone', schema })
  const bossPool = await openPool({ url, max: BOSS_POOL_SIZE, name: 'touchstone jobs' })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    schema,
    isShared: true,
    boss: { backend: 'postgres', db: bossDatabase(bossPool) },
    exclusively: (key, work) =>
      db.connection().execute((session) => underLock(session, `${schema}:${key}`, () => work(session))),
    assertWritable: createWriteProbe(db),
    close: async () => {
      await db.destroy()
      await bossPool.end()
    },
  }
}

/** Over a connection of its own, without a limit: on a large ledger it may take minutes. */
async function migratePostgres(url: string, schema: string): Promise<void> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    application_name: 'touchstone',
    options: `-c search_path=${schema}`,
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    await migrate(db, schema)
  } finally {
    await db.destroy()
  }
}

/**
 * Runs `work` under an advisory lock of the session. While it lasts the session says at intervals that there is somebody:
 * the server ends one that says nothing, so that a process that is frozen does not keep the others waiting.
 *
 * @throws KeyHeldError
 */
async function underLock<Result>(session: Queries, key: string, work: () => Promise<Result>): Promise<Result> {
  const lock = sql`hashtextextended(${key}, 0)`
  const setLimit = (ms: number) => sql`set_config('idle_session_timeout', ${String(ms)}, false)`
  try {
    await sql`select pg_advisory_lock(${lock}), ${setLimit(FROZEN_MS)}`.execute(session)
  } catch (error) {
    throw sqlStateOf(error) === LOCK_NOT_AVAILABLE ? new KeyHeldError(key, { cause: error }) : error
  }
  let isAsking = false
  const timer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    // If it fails, the lock is gone; whoever stores under it is told then.
    void sql`select 1`
      .execute(session)
      .catch(() => {})
      .finally(() => (isAsking = false))
  }, FROZEN_MS / 3)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    const unlocked = sql`select pg_advisory_unlock(${lock}), ${setLimit(0)}`.execute(session)
    // With the session its locks go. If it is gone already, so are they.
    await unlocked.catch(() => sql`select pg_terminate_backend(pg_backend_pid())`.execute(session).catch(() => {}))
  }
}
