import { sql, type Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { readFile } from 'node:fs/promises'
import frozen from './migrations/frozen.json' with { type: 'json' }
import { assertKnownPast, recordMigration } from './past.ts'
import type { Tables } from './tables.ts'

/** The SHA-256 of each file of `migrations/`, by its name and in this order. A file that stands here is never edited again. */
const hashes: ReadonlyMap<string, string> = new Map(Object.entries(frozen))

/**
 * Brings the tables of a schema up to date; processes that start together do it once.
 *
 * @throws OperatorError; what the database throws. Nothing is changed then
 */
export async function migrate(db: Kysely<Tables>, schema: string): Promise<void> {
  await assertKnownPast(db, schema, hashes)
  const migrator = new Migrator({ db, provider: { getMigrations }, migrationTableSchema: schema })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error('the migration failed', { cause: error })
}

async function getMigrations(): Promise<Record<string, Migration>> {
  const read = [...hashes].map(async ([name, hash]) => {
    const statements = await readFile(new URL(`migrations/${name}.sql`, import.meta.url), 'utf8')
    const up = async (db: Kysely<Tables>) => {
      await sql.raw(statements).execute(db)
      await recordMigration(db, name, hash)
    }
    return [name, { up }] as const
  })
  return Object.fromEntries(await Promise.all(read))
}
