import { expect } from 'chai'
import { Transaction } from 'ethers'
import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import pg from 'pg'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { openDatabase, type Database } from '../../../services/database/database.ts'
import { startPGlite } from '../../../services/database/pglite.ts'
import { assertKnownPast } from '../../../services/database/migrate.ts'
import { OperatorError } from '../../../core/errors.ts'
import { accountsWithOpenRelays } from '../../../services/ledger/open-relays.ts'
import { lookUp } from '../../../services/ledger/lookup.ts'
import frozen from '../../../services/database/migrations/frozen.json' with { type: 'json' }

const sources = join(import.meta.dirname, '../../../services/database/migrations')
const dumps = join(import.meta.dirname, 'dumps')
/** Of releases whose tables are taken over no more. */
const strangerDumps = join(import.meta.dirname, 'strangers')
const schema = 'touchstone_31337'

describe('migrations', () => {
  it('are never edited once they are committed', async () => {
    const files = (await readdir(sources)).filter((name) => name.endsWith('.sql')).sort()
    const hashes = await Promise.all(
      files.map(async (file) => {
        const hash = createHash('sha256').update(await readFile(join(sources, file)))
        return [basename(file, '.sql'), hash.digest('hex')] as const
      }),
    )
    expect(frozen, 'a new migration adds its line to frozen.json; no line changes').to.deep.equal(
      Object.fromEntries(hashes),
    )
    expect(Object.keys(frozen), 'in the order of their names').to.deep.equal(Object.keys(frozen).toSorted())
  })
})

describe('the past of a database', () => {
  let postgres: PostgresServer
  let base: string

  before(async () => {
    postgres = await startPostgres()
    base = await mkdtemp(join(tmpdir(), 'touchstone-past-'))
  })
  after(async () => {
    await postgres.close()
    await rm(base, { recursive: true, force: true })
  })

  /** A database in which these statements have been run, and what opens it. */
  const kinds: Readonly<Record<string, (statements: string) => Promise<() => Promise<Database>>>> = {
    PostgreSQL: async (statements) => {
      const url = await postgres.createDatabase()
      const client = new pg.Client(url)
      await client.connect()
      await client.query(statements)
      await client.end()
      return () => openDatabase({ url, folder: null, schema, poolSize: 2 })
    },
    PGlite: async (statements) => {
      const folder = await mkdtemp(join(base, 'database-'))
      await mkdir(join(folder, 'pgdata'))
      const pglite = await startPGlite(join(folder, 'pgdata'), true)
      await pglite.exec(statements)
      await pglite.close()
      return () => openDatabase({ url: null, folder, schema, poolSize: 1 })
    },
  }

  /** Every column and function, as a new database has them. */
  async function shapeOf({ db }: Database): Promise<readonly string[]> {
    const { rows } = await sql<{ line: string }>`
      select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) as line
        from information_schema.columns where table_schema = ${schema}
      union all
      select concat_ws(' ', proname, pg_get_function_identity_arguments(oid), md5(prosrc), proconfig) as line
        from pg_proc where pronamespace = ${schema}::regnamespace
      union all
      select concat_ws(' ', indexname, indexdef) as line from pg_indexes where schemaname = ${schema}
      order by line`.execute(db)
    return rows.map(({ line }) => line)
  }

  interface Relay {
    readonly hash: string
    readonly identity: string
    readonly profile: string
    readonly key_manager: string
    readonly signer: string
    readonly nonce: string
    readonly status: string
    readonly account: string
    readonly reserved: string
    readonly charged: string | null
    readonly raw: string
  }
  const relaysOf = async (query: (text: string) => Promise<unknown>) => {
    const columns = 'identity, profile, key_manager, signer, nonce, status, relays.account, reserved, charged, raw'
    const tables = `${schema}.relays join ${schema}.attempts using (hash)`
    return (await query(`select hash, ${columns} from ${tables} order by hash`)) as Relay[]
  }

  for (const [kind, make] of Object.entries(kinds)) {
    it(`of every release is taken over, with its books and what is on its way, on ${kind}`, async () => {
      const fresh = await (await make('')).call(undefined)
      const newShape = await shapeOf(fresh)
      await fresh.close()
      const files = await readdir(dumps)
      expect(files).to.include('0.2.0.sql')
      for (const file of files) {
        const dump = await readFile(join(dumps, file), 'utf8')
        const open = await make(dump)
        const before = await startPGlite(undefined, true)
        await before.exec(dump)
        const relays = await relaysOf(async (text) => (await before.query(text)).rows)
        const used = (await before.query<{ used: string }>(`select used from ${schema}.profiles`)).rows
        await before.close()

        const database = await open()
        try {
          expect(await shapeOf(database), file).to.deep.equal(newShape)
          const { db } = database
          const after = await relaysOf(async (text) => (await sql.raw(text).execute(db)).rows)
          expect(after, file).to.deep.equal(relays)
          expect(await db.selectFrom('profiles').select('used').execute()).to.deep.equal(used)
          const pending = relays.filter(({ status }) => status === 'pending')
          expect(pending, 'the dump has calls under way').to.not.be.empty
          expect(await accountsWithOpenRelays(db)).to.have.members([...new Set(pending.map(({ account }) => account))])
          for (const { key_manager: keyManager, signer, nonce, identity, hash, account, raw } of pending) {
            const key = { keyManager, signer, channel: BigInt(nonce) >> 128n }
            const [state] = await lookUp(db, [{ key, from: 0n, identities: [identity] }])
            const callData = Transaction.from(raw).data
            expect(state?.pending).to.deep.include({ nonce: BigInt(nonce), callData, account })
            expect(state?.known.get(identity)).to.equal(hash)
          }
        } finally {
          await database.close()
        }
        // Once more: then there is nothing to do.
        await (await open()).close()
      }
    })
  }

  const made = (statements: string) => async () =>
    `${await readFile(join(dumps, '0.2.0.sql'), 'utf8')}; set search_path to ${schema}; ${statements}`
  const release = (version: string) => () => readFile(join(strangerDumps, `${version}.sql`), 'utf8')
  const strangers: readonly [says: string, statements: () => Promise<string>][] = [
    ["a migration '999-later' that is not known", made("insert into kysely_migration values ('999-later', '')")],
    ["has a table 'attempts' and no migrations", made('drop table kysely_migration')],
    ["has a table 'attempts' and no migrations", made('delete from kysely_migration')],
    ["a migration '001-ledger' that is not known", release('0.1.0')],
    [
      "made by another migration '001-tables'",
      made("update facts set value = 'deadbeef' where name like 'migration %'"),
    ],
    ["made by another migration '001-tables'", made("delete from facts where name like 'migration %'")],
    [
      "has a table 'letters' and no migrations",
      async () => `create schema ${schema}; create table ${schema}.letters (dear text)`,
    ],
  ]
  for (const [says, statements] of strangers) {
    it(`is refused in one line, and left as it is: ${says}`, async () => {
      const url = await postgres.createDatabase()
      const client = new pg.Client(url)
      await client.connect()
      await client.query(await statements())
      const contents = async () => {
        const { rows } = await client.query<{ name: string }>(
          `select format('%I.%I', schemaname, tablename) as name from pg_tables
            where schemaname !~ '^(pg_|information_schema)' order by name`,
        )
        const found: [name: string, rows: unknown[]][] = []
        for (const { name } of rows) found.push([name, (await client.query(`table ${name}`)).rows])
        return found
      }
      const before = await contents()
      const error = await openDatabase({ url, folder: null, schema, poolSize: 2 }).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(OperatorError)
      expect((error as Error).message)
        .to.include(says)
        .and.include(schema)
        .and.not.include('\n')
      expect(await contents()).to.deep.equal(before)
      await client.end()
    })
  }

  it('is refused when a migration before the last one is missing', async () => {
    const database = await openDatabase({ url: null, folder: null, schema, poolSize: 1 })
    const [name = '', hash = ''] = Object.entries(frozen)[0] ?? []
    const known = new Map([
      ['000-before', ''],
      [name, hash],
    ])
    const error = await assertKnownPast(database.db, schema, known).catch((thrown: unknown) => thrown)
    await database.close()
    expect(error).to.be.instanceOf(OperatorError)
    expect((error as Error).message).to.include(`lacks the migration '000-before' before '${name}'`)
  })

  it('is recorded, so that a later edit of a migration is found out', async () => {
    const database = await openDatabase({ url: null, folder: null, schema, poolSize: 1 })
    const facts = await database.db.selectFrom('facts').selectAll().execute()
    await database.close()
    expect(Object.fromEntries(facts.map(({ name, value }) => [name.replace('migration ', ''), value]))).to.deep.equal(
      frozen,
    )
  })
})
