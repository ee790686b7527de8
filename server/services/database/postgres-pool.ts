import type { Pool, PoolClient } from 'pg'
import { ServiceError } from '../../core/errors.ts'
import { databaseFault } from './database-fault.ts'

/**
 * The database does not answer, or refuses to work: it is away, starts, stops, is full, or somebody keeps what is
 * needed.
 */
export class DatabaseAwayError extends ServiceError {
  /** Whether the statement may have been executed all the same. */
  readonly isUnknown: boolean

  constructor(cause: unknown, isUnknown: boolean) {
    super('UPSTREAM_UNAVAILABLE', 'the database does not answer', { cause, retryAfterSeconds: RETRY_SECONDS })
    this.isUnknown = isUnknown
  }
}

export interface PoolOptions {
  readonly url: string
  readonly max: number
  readonly name: string
  /** Schema of the tables. */
  readonly schema?: string
  /** How long an answer may take. Default 5,000. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
/** To wait for a connection, or for a lock that another one has: what takes longer is answered with 503. */
const WAIT_MS = 2_000
/** A process that says nothing for so long in the middle of a transaction, or while it holds a key, is ended. */
export const FROZEN_MS = 3_000
const RETRY_SECONDS = 1

/** So the server notices within half a minute that the machine of a client is gone, and lets go of what it held. */
const KEEPALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/**
 * Connections to a PostgreSQL server that may go away at any time, and come back. Nothing waits for longer than
 * {@link PoolOptions.timeoutMs}, and no connection that breaks ends the process, whether it is idle or at work.
 *
 * @returns a pool whose `connect`, and `query` of whose connections, throw DatabaseAwayError
 */
export async function openPool({ url, max, name, schema, timeoutMs = TIMEOUT_MS }: PoolOptions): Promise<Pool> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: name,
    options: `${schema === undefined ? '' : `-c search_path=${schema} `}${KEEPALIVE}`,
    connectionTimeoutMillis: Math.min(timeoutMs, WAIT_MS),
    statement_timeout: timeoutMs,
    lock_timeout: Math.min(timeoutMs, WAIT_MS),
    idle_in_transaction_session_timeout: FROZEN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // Who asks next hears of it, and the pool makes a new connection; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // That of the pool listens to idle connections only.
    client.on('error', () => {})
    guardQueries(client, timeoutMs)
  })
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>
  const guarded = () =>
    connect().catch((cause: unknown) => {
      throw new DatabaseAwayError(cause, false)
    })
  // With a callback it is what the pool itself uses.
  pool.connect = ((callback?: never) =>
    callback ? pg.Pool.prototype.connect.call(pool, callback) : guarded()) as never
  return pool
}

/** One statement at a time, and an end to the connection of one that is not answered: the server may be frozen. */
function guardQueries(client: PoolClient, timeoutMs: number): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  let before: Promise<unknown> = Promise.resolve()
  // The server's own limit comes first where there is somebody to keep it.
  const watch = () => setTimeout(() => void endOf(client), timeoutMs + 1_000)
  const ask = async (args: readonly unknown[]): Promise<unknown> => {
    const timer = watch()
    try {
      return await query(...args)
    } catch (error) {
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

const endOf = (client: PoolClient) => (client as unknown as { end(): Promise<void> }).end().catch(() => {})

/** The server has ended a session that was idle in a transaction. */
const IDLE_IN_TRANSACTION = '25P03'
/** Refused before anything was done. */
const NOTHING_DONE = new Set(['55P03', '25006', '57014', '57P03', '53300', '53100', '53200'])

/** @returns the SQLSTATE of an error of the server, or of one that it has caused; undefined for others */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, severity, cause } = (error ?? {}) as { code?: unknown; severity?: unknown; cause?: unknown }
  if (typeof severity === 'string' && typeof code === 'string') return code
  return cause === undefined ? undefined : sqlStateOf(cause)
}

function translated(error: unknown): unknown {
  const code = sqlStateOf(error)
  // It is not from the server: the connection is gone.
  if (code === undefined) return new DatabaseAwayError(error, true)
  const isAway = databaseFault(error) !== undefined || code === IDLE_IN_TRANSACTION
  return isAway ? new DatabaseAwayError(error, !NOTHING_DONE.has(code)) : error
}
