import { sql } from 'kysely'
import type { Queries } from './tables.ts'

/** What a PostgreSQL server does by itself (autovacuum), and PGlite does not. */
export interface Upkeep {
  stop(): Promise<void>
}

/** Most of their rows are written once or twice; clearing them takes long, and waits for the next start. */
const LARGE_TABLES = ['relays', 'attempts']

/** Clears dead rows away from the tables that change all the time, those of the background jobs among them. */
export function startUpkeep(db: Queries, schemas: readonly string[], everyMs: number): Upkeep {
  async function clearAway(): Promise<void> {
    const { rows } = await sql<{ name: string }>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = any(${schemas}::text[]) and tablename <> all(${LARGE_TABLES}::text[])`.execute(db)
    for (const { name } of rows) await sql`vacuum ${sql.raw(name)}`.execute(db)
  }

  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    // What it leaves, the next one clears away.
    running = clearAway().catch(() => {})
  }, everyMs).unref()
  return {
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}
