import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { migration as ledger } from './migrations/001-ledger.ts'
import { migration as storeRelays } from './migrations/002-store-relays.ts'
import { migration as leanLedger } from './migrations/003-lean-ledger.ts'
import { migration as offered } from './migrations/004-offered.ts'
import { migration as plannedByIndex } from './migrations/005-planned-by-index.ts'
import { migration as heldSigners } from './migrations/006-held-signers.ts'
import { migration as retries } from './migrations/007-retries.ts'
import { migration as budgets } from './migrations/008-budgets.ts'
import frozen from './migrations/frozen.json' with { type: 'json' }
import { assertKnownPast, recordPast } from './past.ts'
import type { Tables } from './tables.ts'

/** In the order of their names. Each has the SHA-256 of its file in `frozen.json`, and is never edited again. */
export const migrations = {
  '001-ledger': ledger,
  '002-store-relays': storeRelays,
  '003-lean-ledger': leanLedger,
  '004-offered': offered,
  '005-planned-by-index': plannedByIndex,
  '006-held-signers': heldSigners,
  '007-retries': retries,
  '008-budgets': budgets,
}

/**
 * Brings the tables of a schema up to date; processes that start together do it once.
 *
 * @throws OperatorError; what the database throws. Nothing is changed then
 */
export async function migrate(db: Kysely<Tables>, schema: string): Promise<void> {
  const hashes = new Map(Object.entries(frozen))
  await assertKnownPast(db, schema, hashes)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableSchema: schema,
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error('the migration failed', { cause: error })
  await recordPast(db, hashes)
}
