import { sql } from 'kysely'
import type { Queries } from './tables.ts'

/** Removes dead rows. A PostgreSQL server does that by itself (autovacuum), PGlite does not. */
export interface Upkeep {
  stop(): Promise<void>
}

/**
 * Most rows of these tables are written once or twice. A vacuum of them takes long, so it is made at the start only.
 */
const LARGE_TABLES = ['relays', 'attempts']

/** Removes dead rows at intervals from the tables that change all the time, those of pg-boss among them. */
export function startUpkeep(db: Queries, schemas: readonly string[], everyMs: number): Upkeep {
  async function clearAway(): Promise<void> {
    const { rows } = await sql<{ name: string }>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = any(${schemas}::text[]) and tablename <> all(${LARGE_TABLES}::text[])`.execute(db)
    for (const { name } of rows) await sql`vacuum ${sql.raw(name)}`.execute(db)
  }

  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    // When it fails, the next one removes the rows.
    running = clearAway().catch(() => {})
  }, everyMs).unref()
  return {
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}
