import type { PGlite } from '@electric-sql/pglite'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Db as BossDatabase } from 'pg-boss'
import { Semaphore } from '../../concurrency/semaphore.ts'
import { ServiceError, OperatorError } from '../../core/errors.ts'
import { assertUsable } from './assert-usable.ts'
import { openDatabaseFolder, type DatabaseFolder, folderError } from './database-folder.ts'
import { migrate } from './migrate.ts'
import { createLastingPGlite, PGliteStream, startUpkeep, startPGlite } from './pglite.ts'
import { FROZEN_MS, openPool, sqlStateOf, withSettings } from './postgres-pool.ts'
import type { Queries, Tables } from './tables.ts'

export type { Queries } from './tables.ts'

export interface DatabaseOptions {
  /** URL of a PostgreSQL server; null: PGlite in this process. */
  readonly url: string | null
  /** Where PGlite keeps its files; null: in memory. */
  readonly folder: string | null
  /** Schema (namespace) of the tables; one per chain. */
  readonly schema: string
  /** The most connections to a PostgreSQL server. At most half of them hold a key of `Database.exclusively` at a time. */
  readonly poolSize: number
  /**
   * How often dead rows are removed in PGlite, in milliseconds; a PostgreSQL server does it by itself. Default: ten
   * minutes.
   */
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
  /** The same database, in the form that pg-boss takes. */
  readonly boss: { readonly backend: 'pglite' | 'postgres'; readonly db: BossDatabase }
  /**
   * Runs `work` while no other work with the same key runs, in this process or another one on the same database. The key is
   * free at once when its process dies, and after some seconds when its process is frozen. `work` must query through
   * the `db` that it is given.
   *
   * @throws KeyHeldError when somebody else has the key for too long
   */
  exclusively<Result>(key: string, work: (db: Queries) => Promise<Result>): Promise<Result>
  /** Makes a commit, at most every few seconds. @throws when the database cannot commit */
  assertWritable(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 *
 * @throws OperatorError; what the PostgreSQL server says itself
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url !== null) return openPostgres(options, options.url)
  const folder = options.folder === null ? undefined : await openDatabaseFolder(options.folder)
  return broughtUpToDate(await openPGlite(options, folder), folder)
}

async function broughtUpToDate(database: Database, folder?: DatabaseFolder): Promise<Database> {
  try {
    await migrate(database.db, database.schema)
    // It takes seconds on a large ledger, and no caller waits yet.
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
/** How long a start waits for the server to take a connection, in milliseconds. */
const CONNECT_MS = 10_000
const UPKEEP_EVERY_MS = 600_000

/** @throws OperatorError what lies in the folder is damaged; PGlite is not installed */
async function startIn(folder: DatabaseFolder): Promise<PGlite> {
  try {
    return await startPGlite(folder.data, folder.isNew)
  } catch (cause) {
    folder.release()
    if (cause instanceof OperatorError) throw cause
    const problem = 'cannot be opened: the database in it is damaged, or its files belong to another user.'
    throw folderError(folder.path, `${problem} Mend the rights, or restore a backup`, { cause })
  }
}

async function openPGlite(
  { schema, upkeepEveryMs = UPKEEP_EVERY_MS }: DatabaseOptions,
  folder: DatabaseFolder | undefined,
): Promise<Database> {
  // PGlite gathers no statistics, and without them the planner scans large tables.
  const set = (pglite: PGlite) => pglite.exec(`set search_path to ${schema}; set enable_seqscan = off`)
  const [first, { default: pg }] = await Promise.all([
    folder ? startIn(folder) : startPGlite(undefined, true),
    import('pg'),
  ])
  await set(first)
  const startAgain = async ({ data, assertWritable }: DatabaseFolder): Promise<PGlite> => {
    await assertWritable()
    const pglite = await startPGlite(data, false)
    await set(pglite)
    return pglite
  }
  const pglite = createLastingPGlite(first, folder && (() => startAgain(folder)))
  // PGlite has one connection.
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    stream: () => new PGliteStream(pglite),
    // Without a name here, pg would take PGUSER, which is meant for a server.
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  })
  // The next query fails with the reason. Without a listener the event would end the process.
  pool.on('error', () => {})
  // The pool's own listener hears idle connections only.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const upkeep = startUpkeep(db, [schema, jobsSchemaOf(schema)], upkeepEveryMs)
  const tails = new Map<string, Promise<unknown>>()
  return {
    db,
    schema,
    isShared: false,
    boss: { backend: 'pglite', db: bossDatabase(pool) },
    // No other process has this database, so a queue in this process is enough, and leaves the one connection free.
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

/** Jobs share the one connection with all other queries. */
function bossDatabase(pool: Pool): BossDatabase {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect()
      try {
        // Several statements have several results, one of which has rows.
        const results = [await client.query(text, values)].flat()
        return { rows: results.flatMap(({ rows }) => rows as unknown[]) }
      } catch (error) {
        // The statements may have begun a transaction. If the rollback fails too, the first error says more.
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
  // Work under a key may need a second connection, so keys must not take them all.
  const holders = new Semaphore(Math.ceil(poolSize / 2))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    schema,
    isShared: true,
    boss: { backend: 'postgres', db: bossDatabase(bossPool) },
    exclusively: (key, work) =>
      holders.run(() =>
        db.connection().execute((session) => underLock(session, `${schema}:${key}`, () => work(session))),
      ),
    assertWritable: createWriteProbe(db),
    close: async () => {
      await db.destroy()
      await bossPool.end()
    },
  }
}

/** Migrates over a connection without a time limit: on a large ledger it may take minutes. @throws OperatorError */
async function migratePostgres(url: string, schema: string): Promise<void> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    application_name: 'touchstone',
    connectionTimeoutMillis: CONNECT_MS,
    ...withSettings({ search_path: schema }),
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    await assertUsable(pool)
    await migrate(db, schema)
  } finally {
    await db.destroy()
  }
}

/**
 * Runs `work` under an advisory lock of the session. Meanwhile the session sends a statement at intervals: the server
 * ends a session that sends nothing, so that a frozen process does not keep the others waiting.
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
    // If this fails, the lock is gone, and the next statement under it fails.
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
    // The locks end with the session. If the session is gone already, so are its locks.
    await unlocked.catch(() => sql`select pg_terminate_backend(pg_backend_pid())`.execute(session).catch(() => {}))
  }
}

/** A commit that succeeded counts for this time, in milliseconds, so that frequent checks do not write to the disk. */
const COMMIT_VALID_MS = 5_000

/**
 * Checks that a commit succeeds. Reading would not show a full disk, or a server that became read-only.
 *
 * @param lookFirst at what lies under the database
 * @returns a function that makes the check. Callers at the same time share one. It throws what the check throws
 */
export function createWriteProbe(db: Queries, lookFirst?: () => Promise<void> | undefined): () => Promise<void> {
  let succeededMs = -Infinity
  let look: Promise<void> | undefined

  async function commit(): Promise<void> {
    await lookFirst?.()
    const value = new Date().toISOString()
    await db
      .insertInto('facts')
      .values({ name: 'last_probe', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
    succeededMs = performance.now()
  }

  return async () => {
    if (performance.now() - succeededMs < COMMIT_VALID_MS) return
    look ??= commit().finally(() => (look = undefined))
    await look
  }
}
