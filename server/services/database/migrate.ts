import { sql, type Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { readFile } from 'node:fs/promises'
import type { Tables } from './tables.ts'
import { OperatorError } from '../../core/errors.ts'
import frozen from './migrations/frozen.json' with { type: 'json' }

/**
 * The SHA-256 of each file of `migrations/`, by its name and in this order. A file that stands here is never edited
 * again.
 */
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

/** Tables that the migrator makes before the first migration. */
const MIGRATOR_TABLES: ReadonlySet<string> = new Set(['kysely_migration', 'kysely_migration_lock'])
/** Prefix of the rows in `facts` that tell the hash of each migration's text. */
const FACT = 'migration '

/** The error for tables that another version, or somebody else, has made. */
function unknownPast(schema: string, problem: string): OperatorError {
  return new OperatorError(
    `the database was not made by this version: schema ${schema} ${problem}. ` +
      'Nothing was changed: start the version that made it, or restore a backup of this one',
  )
}

/**
 * Checks that a schema is empty, or was made by the first of these migrations, word for word. It only reads.
 *
 * @param hashes of the migrations' texts by name, in their order
 * @throws OperatorError
 */
export async function assertKnownPast(db: Kysely<Tables>, schema: string, hashes: ReadonlyMap<string, string>) {
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema} order by tablename`.execute(db)
  const hasMigrator = tables.some(({ name }) => name === 'kysely_migration')
  const done = hasMigrator
    ? await sql<{ name: string }>`
        select name from ${sql.id(schema, 'kysely_migration')} order by name`.execute(db)
    : { rows: [] }
  const known = [...hashes.keys()]
  done.rows.forEach(({ name }, index) => {
    if (!hashes.has(name)) throw unknownPast(schema, `has a migration '${name}' that is not known here`)
    if (name !== known[index]) throw unknownPast(schema, `lacks the migration '${known[index]}' before '${name}'`)
  })
  const foreign = tables.find(({ name }) => !MIGRATOR_TABLES.has(name))
  if (done.rows.length === 0) {
    if (foreign) throw unknownPast(schema, `has a table '${foreign.name}' and no migrations`)
    return
  }
  const { rows: facts } = await sql<{ name: string; value: string }>`
    select name, value from ${sql.id(schema, 'facts')} where starts_with(name, ${FACT})`.execute(db)
  const recorded = new Map(facts.map(({ name, value }) => [name.slice(FACT.length), value]))
  for (const { name } of done.rows) {
    if (recorded.get(name) === hashes.get(name)) continue
    throw unknownPast(schema, `was made by another migration '${name}' than the one here`)
  }
}

/** Records the hash of a migration's text, in the transaction that makes the tables. */
async function recordMigration(db: Kysely<Tables>, name: string, hash: string): Promise<void> {
  await db
    .insertInto('facts')
    .values({ name: `${FACT}${name}`, value: hash })
    .execute()
}
