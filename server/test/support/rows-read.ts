import { sql } from 'kysely'
import type { Queries } from '../../services/database/database.ts'

/** How many rows of the ledger a transaction has read so far, by an index or without. */
export async function rowsRead(db: Queries): Promise<number> {
  const { rows } = await sql<{ count: string | number }>`
    select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) as count from pg_stat_xact_user_tables
    where relname in ('profiles', 'signer_accounts', 'relays', 'attempts')`.execute(db)
  return Number(rows[0]?.count)
}
