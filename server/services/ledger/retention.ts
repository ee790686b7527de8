import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Database, Queries } from '../database/database.ts'

/** Deletes old relays from the ledger, with every transaction that was signed for them. */
export interface Retention {
  /** Resolves when what was being deleted is deleted. */
  close(): Promise<void>
}

interface RetentionOptions {
  readonly database: Database
  /** Relays that were accepted on an earlier day than so many days ago, UTC, are deleted once they are final. */
  readonly keepDays: number
  /** The time, in Unix milliseconds. It should not be ahead: what is deleted does not come back. */
  readonly nowMs: () => Promise<number>
  readonly log: Logger
}

const DAY_MS = 86_400_000
const LOOK_MS = 3_600_000
/** The most relays that are chosen at a time. The embedded database does nothing else while it deletes them. */
const MAX_TOGETHER = 100

/**
 * Looks for old relays at once, and then every hour. All processes on a database may do so. What the relays took of their
 * profiles' quota stays taken.
 */
export function startRetention(options: RetentionOptions): Retention {
  const { log } = options
  let isClosed = false

  async function look(): Promise<void> {
    try {
      const deleted = await deleteOld(options, () => isClosed)
      if (deleted > 0) log.info({ transactions: deleted }, 'old relay calls are deleted')
    } catch (err) {
      log.warn({ err }, 'old relay calls cannot be deleted')
    }
  }

  let looking = look()
  const timer = setInterval(() => void (looking = looking.then(look)), LOOK_MS).unref()
  return {
    close: async () => {
      isClosed = true
      clearInterval(timer)
      await looking
    },
  }
}

/** @returns how many transactions were deleted */
async function deleteOld({ database, keepDays, nowMs }: RetentionOptions, isStopped: () => boolean): Promise<number> {
  const { db, isShared } = database
  // Whole days: what follows the deletion is done once a day.
  const today = Math.floor((await nowMs()) / DAY_MS)
  const beforeMs = (today - keepDays) * DAY_MS
  let deleted = 0
  let count: number
  do {
    count = await deleteSome(db, beforeMs)
    deleted += count
    await nextTurn()
  } while (count > 0 && !isStopped())
  // A PostgreSQL server does it by itself.
  if (deleted > 0 && !isShared) await sql`vacuum relays, attempts`.execute(db)
  return deleted
}

/**
 * The relays of a bundle are deleted together, once all are final.
 *
 * @returns how many transactions were deleted, each with the relays that it carried
 */
async function deleteSome(db: Queries, beforeMs: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    select delete_old_relays(${beforeMs}::bigint, ${MAX_TOGETHER}::integer) as deleted`.execute(db)
  return rows[0]?.deleted ?? 0
}
