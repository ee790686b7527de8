import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What nodes have is a mark on the account instead of a time on each transaction: those are written once and never again.
 * See `unsent.ts` in `server/services/ledger`.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('signer_accounts')
      .addColumn('offered_below', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('attempts').dropColumn('sent_at_ms').execute()
    // Room in the page was for the time.
    await sql`alter table attempts reset (fillfactor)`.execute(db)
  },
}
