import type { Pool, PoolClient } from 'pg'
import { OperatorError } from '../../core/errors.ts'
import { sqlStateOf } from './postgres-pool.ts'

/** The oldest PostgreSQL that has all that is used here: `idle_session_timeout` is the latest of it. */
const LEAST_VERSION = 14

/**
 * Makes sure, before anything is written, that what stands at the URL is a PostgreSQL that the ledger can rely on.
 *
 * @param pool of at least two connections
 * @throws OperatorError; what the server says itself
 */
export async function assertUsable(pool: Pool): Promise<void> {
  const clients: PoolClient[] = []
  try {
    const one = await reach(pool)
    clients.push(one)
    await assertVersion(one)
    const other = await pool.connect()
    clients.push(other)
    await assertOwnSessions(one, other)
  } finally {
    for (const client of clients) client.release()
  }
}

async function reach(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (cause) {
    if (sqlStateOf(cause) !== undefined) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    // The message names the file: of a certificate, or of a socket.
    const reason = code === 'ENOENT' ? message : (code ?? message)
    throw new OperatorError(`DATABASE_URL: the database cannot be reached (${reason})`, { cause })
  }
}

async function assertVersion(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version",
  )
  for (const { number, version } of rows) {
    if (number >= LEAST_VERSION * 10_000) continue
    throw new OperatorError(`DATABASE_URL: PostgreSQL ${version} is too old: at least ${LEAST_VERSION} is needed`)
  }
}

/**
 * Locks and settings belong to a session of the server. A pooler that lends sessions for one transaction gives two connections
 * the same session, or one connection several.
 */
async function assertOwnSessions(one: PoolClient, other: PoolClient): Promise<void> {
  const sessions: unknown[] = []
  for (const client of [one, one, other, other, one]) {
    const { rows } = await client.query<{ session: number }>('select pg_backend_pid() as session')
    sessions.push(rows[0]?.session)
  }
  const [first, , second] = sessions
  if (first !== second && String(sessions) === String([first, first, second, second, first])) return
  throw new OperatorError(
    'DATABASE_URL: a pooler lends its sessions for one transaction each, so that locks do not hold: name PostgreSQL itself, or a pooler in session mode',
  )
}
