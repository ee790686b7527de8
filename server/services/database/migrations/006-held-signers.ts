import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What processes tell each other of a signer: that the node refuses its next transaction (see `refusals.ts` in
 * `server/services/ledger`), and who holds it (see `lane.ts` in `server/services/relayer`).
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('signer_accounts')
      .addColumn('refused_nonce', 'bigint')
      .addColumn('refused_since_ms', 'bigint')
      .addColumn('refusals', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('holder', 'text')
      .execute()
    // Locks the rows until the transaction ends: nobody can take a signer over between this and what is stored.
    await sql`
      create function are_held(signers text[], holders text[]) returns boolean language plpgsql
      set plan_cache_mode = force_generic_plan set enable_seqscan = off
      set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        found_rows bigint;
      begin
        perform from signer_accounts
          join unnest(signers, holders) as expected(address, name) using (address)
          where holder = expected.name
          order by address for no key update of signer_accounts;
        get diagnostics found_rows = row_count;
        return found_rows = cardinality(signers);
      end
      $$`.execute(db)
  },
}
