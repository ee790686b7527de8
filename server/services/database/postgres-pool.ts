import type { Pool, PoolClient, PoolConfig } from 'pg'
import { ServiceError } from '../../core/errors.ts'

/**
 * The database does not answer, or cannot work: it is away, starts, stops, is full, or somebody else holds a lock.
 */
export class DatabaseAwayError extends ServiceError {
  /** Whether the statement may have been executed although no answer came. */
  readonly isUnknown: boolean

  constructor(cause: unknown, isUnknown: boolean) {
    super('UPSTREAM_UNAVAILABLE', 'the database does not answer', { cause, retryAfterSeconds: RETRY_SECONDS })
    this.isUnknown = isUnknown
  }
}

interface PoolOptions {
  readonly url: string
  readonly max: number
  readonly name: string
  /** Schema of the tables. */
  readonly schema?: string
  /** How long an answer may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
/** The longest wait for a connection or a lock, in milliseconds. A longer one ends in a 503. */
const WAIT_MS = 2_000
/** The server ends a session that sends nothing for this time within a transaction or under a lock, in milliseconds. */
export const FROZEN_MS = 3_000
const RETRY_SECONDS = 1

/** With these the server notices within half a minute that a client's machine is gone, and frees its locks. */
const KEEPALIVE = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 }

/** What is stored lies on the disk, or where the operator wants more than that: a default of `off` would lose calls. */
const DURABLE =
  "set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)"

/**
 * Gives each new session of a pool these settings, by a statement: poolers before a server, such as PgBouncer, refuse them
 * in the startup message, or drop them.
 */
export function withSettings(settings: Readonly<Record<string, string | number>>): Pick<PoolConfig, 'verify'> {
  // The statements are written for this level; a database may have another one for its default.
  const all = { default_transaction_isolation: 'read committed', ...settings }
  const values = Object.entries(all).flatMap(([name, value]) => [name, String(value)])
  const calls = Object.keys(all).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`)
  const statement = `select ${[DURABLE, ...calls].join(', ')}`
  return { verify: (client, done) => void client.query(statement, values).then(() => done(), done) }
}

/**
 * Connections to a PostgreSQL server that may go away at any time, and come back. No query waits for longer than
 * {@link PoolOptions.timeoutMs}. A connection that breaks never ends the process, whether it is idle or in use.
 *
 * @returns a pool whose `connect`, and `query` of whose connections, throw DatabaseAwayError
 */
export async function openPool({ url, max, name, schema, timeoutMs = TIMEOUT_MS }: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: name,
    ...withSettings({
      ...KEEPALIVE,
      ...(schema !== undefined && { search_path: schema }),
      statement_timeout: timeoutMs,
      lock_timeout: Math.min(timeoutMs, WAIT_MS),
      idle_in_transaction_session_timeout: FROZEN_MS,
    }),
    connectionTimeoutMillis: Math.min(timeoutMs, WAIT_MS),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // The pool makes a new connection for the next query. Without a listener the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // The pool's own listener hears idle connections only.
    client.on('error', () => {})
    guardQueries(client, timeoutMs)
  })
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>
  const guarded = async () => {
    const client = await connect().catch((cause: unknown) => {
      throw new DatabaseAwayError(cause, false)
    })
    const release = client.release.bind(client)
    client.release = (destroy) => release(destroy || readOnly.has(client))
    return client
  }
  // The pool itself calls it with a callback.
  pool.connect = ((callback?: never) =>
    callback ? pg.Pool.prototype.connect.call(pool, callback) : guarded()) as never
  return pool
}

/** Sends one statement at a time, and cuts off the connection of one without an answer: the server may be frozen. */
function guardQueries(client: PoolClient, timeoutMs: number): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  let before: Promise<unknown> = Promise.resolve()
  // The server's own limit is shorter, and ends the statement unless the server is frozen.
  const watch = () => setTimeout(() => cutOff(client), timeoutMs + 1_000)
  const ask = async (args: readonly unknown[]): Promise<unknown> => {
    const timer = watch()
    try {
      return await query(...args)
    } catch (error) {
      if (sqlStateOf(error) === READ_ONLY) readOnly.add(client)
      throw translated(error)
    } finally {
      clearTimeout(timer)
    }
  }
  client.query = ((...args: unknown[]) => {
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      const timer = watch()
      const answered = (...answer: unknown[]) => {
        clearTimeout(timer)
        ;(callback as (...answer: unknown[]) => void)(...answer)
      }
      return query(...args.slice(0, -1), answered)
    }
    const answer = before.then(() => ask(args))
    before = answer.catch(() => {})
    return answer
  }) as never
}

/**
 * Sessions that may not write. After a failover they lead to the former primary, and would stay so while they are in use: a
 * new session may lead to the new one.
 */
const readOnly = new WeakSet<PoolClient>()

/** Breaks a connection at once. Its `end` would wait for a server that may never answer. */
const cutOff = (client: PoolClient) => client.connection.stream.destroy()

/** The server has ended a session that was idle in a transaction. */
const IDLE_IN_TRANSACTION = '25P03'
const READ_ONLY = '25006'
/** SQLSTATEs of statements that were refused before anything was done. */
const NOTHING_DONE = new Set(['55P03', READ_ONLY, '57014', '57P03', '53300', '53100', '53200'])

/** @returns the SQLSTATE of an error of the server, or of one that it has caused; undefined for others */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity, cause } = (error ?? {}) as { code?: unknown; severity?: unknown; cause?: unknown }
  if (typeof severity === 'string' && typeof code === 'string') return code
  return cause === undefined ? undefined : sqlStateOf(cause)
}

function translated(error: unknown): unknown {
  const code = sqlStateOf(error)
  // The error is not from the server, so the connection is gone.
  if (code === undefined) return new DatabaseAwayError(error, true)
  const isAway = databaseFault(error) !== undefined || code === IDLE_IN_TRANSACTION
  return isAway ? new DatabaseAwayError(error, !NOTHING_DONE.has(code)) : error
}

/** By class of SQLSTATE: connection, resources (a full disk), operator intervention, system, damaged data. */
const CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58'])
const CODES: ReadonlySet<string> = new Set([READ_ONLY, '55P03', 'XX001', 'XX002'])

/**
 * Recognises the errors in which PostgreSQL speaks of itself and not of a statement: it is full, read-only, stopping or
 * damaged.
 *
 * @returns UPSTREAM_UNAVAILABLE; undefined for every other error
 */
export function databaseFault(error: unknown): ServiceError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, severity } = cause as { code?: unknown; severity?: unknown }
    if (typeof severity !== 'string' || typeof code !== 'string') continue
    if (!CLASSES.has(code.slice(0, 2)) && !CODES.has(code)) return undefined
    return new ServiceError('UPSTREAM_UNAVAILABLE', 'the database does not work', { cause: error })
  }
  return undefined
}

/**
 * Unique violation, deadlock, serialisation failure, an object or a table that was made meanwhile: another transaction was
 * faster, so a second try is right.
 */
const conflicts: ReadonlySet<unknown> = new Set(['23505', '40P01', '40001', '42710', '42P07'])
const MAX_TRIES = 5

/**
 * Runs a database transaction again when it lost against another one.
 *
 * @param work gets the number of the try, from 1
 */
export async function retryOnConflict<Result>(work: (tries: number) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries)
    } catch (error) {
      if (tries >= MAX_TRIES || !conflicts.has((error as { code?: unknown }).code)) throw error
    }
  }
}
