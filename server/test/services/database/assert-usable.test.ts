import { expect } from 'chai'
import { sql } from 'kysely'
import pg from 'pg'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { OperatorError, startFailure } from '../../../core/errors.ts'
import { assertUsable } from '../../../services/database/assert-usable.ts'
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
      if (settings.pool_mode === 'transaction') await useTwoSessions(url)
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

describe('a PostgreSQL server by its version', () => {
  /** A pool of two sessions, and how many of its connections are not given back. */
  function poolOf(number: number, version: string) {
    let taken = 0
    const connect = async () => {
      const session = ++taken
      const query = async (text: string) => ({ rows: [text.includes('version') ? { number, version } : { session }] })
      return { query, release: () => taken-- }
    }
    return { pool: { connect } as unknown as pg.Pool, taken: () => taken }
  }

  it('is taken from 14 on; of an older one the version is told', async () => {
    for (const [number, version, says] of [
      [140_000, '14.0', undefined],
      [180_004, '18.4', undefined],
      [130_023, '13.23', 'DATABASE_URL: PostgreSQL 13.23 is too old: at least 14 is needed'],
    ] as const) {
      const { pool, taken } = poolOf(number, version)
      const thrown: unknown = await assertUsable(pool).catch((error: unknown) => error)
      expect(startFailure(thrown)).to.equal(says)
      expect(taken()).to.equal(0)
    }
  })
})

describe('what is no PostgreSQL server', () => {
  const hello = 'HTTP/1.1 400 Bad Request\r\n\r\n'
  const servers: readonly [what: string, says: RegExp, answer: (socket: Socket) => void, query?: string][] = [
    ['closes every connection', /ECONNRESET|terminated/, (socket) => socket.destroy()],
    ['speaks HTTP', /terminated/, (socket) => socket.once('data', () => socket.end(hello))],
    ['speaks no TLS', /SSL/, (socket) => socket.once('data', () => socket.write('N')), '?sslmode=verify-full'],
    ['says nothing for ten seconds', /timeout/, () => {}],
    [
      'is to be known by a certificate that is not there',
      /ENOENT.*none\.pem/,
      () => {},
      '?sslmode=verify-full&sslrootcert=/none.pem',
    ],
  ]
  for (const [what, says, answer, query = ''] of servers) {
    it(`is told in one line at the start where it ${what}`, async () => {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        answer(socket)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const url = `postgres://a:secret@127.0.0.1:${port}/db${query}`
      const thrown: unknown = await open(url).catch((error: unknown) => error)
      server.close()
      const line = startFailure(thrown)
      expect(line).to.match(/^DATABASE_URL: the database cannot be reached \(.*\)$/)
      expect(line).to.match(says).and.not.include('secret')
    })
  }
})

/** Two transactions at the same time, after which the pooler has two sessions to lend. */
async function useTwoSessions(url: string): Promise<void> {
  const clients = [new pg.Client(url), new pg.Client(url)]
  for (const client of clients) await client.connect()
  for (const client of clients) await client.query('begin')
  for (const client of clients) await client.query('commit')
  for (const client of clients) await client.end()
}
