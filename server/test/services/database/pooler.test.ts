import { expect } from 'chai'
import { sql } from 'kysely'
import pg from 'pg'
import { OperatorError } from '../../../core/errors.ts'
import { openDatabase } from '../../../services/database/database.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { startPgBouncer, type PgBouncer } from '../../support/pgbouncer.ts'

const schema = 'touchstone_1'
const open = (url: string) => openDatabase({ url, folder: null, schema, poolSize: 4 })

describe('PgBouncer before a PostgreSQL server', () => {
  let postgres: PostgresServer
  let pooler: PgBouncer | undefined

  before(async () => {
    postgres = await startPostgres()
  })
  afterEach(async () => {
    await pooler?.close()
    pooler = undefined
  })
  after(() => postgres?.close())

  it('gives each connection a session of its own, with the schema and the limits of the server’s sessions', async function () {
    pooler = await startPgBouncer(await postgres.createDatabase(), { pool_mode: 'session' }, this)
    const database = await open(pooler.url)
    try {
      const show = async (name: string) => {
        const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(database.db)
        return rows[0]?.value
      }
      expect(await show('search_path')).to.equal(schema)
      expect(await show('statement_timeout')).to.equal('5s')
      expect(await show('lock_timeout')).to.equal('2s')
      expect(await show('idle_in_transaction_session_timeout')).to.equal('3s')
      expect(await show('tcp_keepalives_idle')).to.equal('10')
      const { rows } = await sql<{ schema: string }>`
        select distinct schemaname as schema from pg_tables where schemaname not in ('pg_catalog', 'information_schema')
      `.execute(database.db)
      expect(rows).to.deep.equal([{ schema }])
      const order: string[] = []
      const work = (name: string) => async () => {
        order.push(name)
        await sql`select pg_sleep(0.05)`.execute(database.db)
        order.push(name)
      }
      await Promise.all(['a', 'b', 'c'].map((name) => database.exclusively('key', work(name))))
      const holders = [...new Set(order)]
      expect(order).to.deep.equal(holders.flatMap((name) => [name, name]))
    } finally {
      await database.close()
    }
  })

  for (const [way, settings] of [
    ['a transaction', { pool_mode: 'transaction' }],
    ['a transaction, in turns', { pool_mode: 'transaction', server_round_robin: '1' }],
    ['a statement', { pool_mode: 'statement' }],
  ] as const) {
    it(`is refused where it lends sessions for ${way}, and nothing is written`, async function () {
      const databaseUrl = await postgres.createDatabase()
      pooler = await startPgBouncer(databaseUrl, settings, this)
      const { url } = pooler
      await askTogether(url)
      const thrown: unknown = await open(url).then(
        (database) => database.close(),
        (error: unknown) => error,
      )
      expect(thrown).to.be.instanceOf(OperatorError)
      expect(String(thrown)).to.include('pooler').and.include('DATABASE_URL').and.not.include('\n')
      const direct = new pg.Client(databaseUrl)
      await direct.connect()
      const { rows } = await direct.query<{ schema: string }>('select nspname as schema from pg_namespace')
      await direct.end()
      expect(rows.map((row) => row.schema)).to.not.include(schema)
    })
  }
})

/** Two statements at the same time, after which the pooler has two sessions to lend. */
async function askTogether(url: string): Promise<void> {
  const clients = [new pg.Client(url), new pg.Client(url)]
  for (const client of clients) await client.connect()
  await Promise.all(clients.map((client) => client.query('select pg_sleep(0.2)')))
  for (const client of clients) await client.end()
}
