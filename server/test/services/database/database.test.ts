import { expect } from 'chai'
import pg from 'pg'
import { sql } from 'kysely'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase, type Database, createWriteProbe } from '../../../services/database/database.ts'
import { OperatorError } from '../../../core/errors.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { until } from '../../support/until.ts'

const schema = 'touchstone_1'
const MIB = 1024 * 1024

describe('database', () => {
  let postgres: PostgresServer
  let folder: string

  before(async () => {
    postgres = await startPostgres()
    folder = await mkdtemp(join(tmpdir(), 'touchstone-database-'))
  })
  after(async () => {
    await postgres.close()
    await rm(folder, { recursive: true, force: true })
  })

  const openPGlite = (where: string | null = null) => openDatabase({ url: null, folder: where, schema, poolSize: 1 })
  const openPostgres = (url: string) => openDatabase({ url, folder: null, schema, poolSize: 4 })
  const facts = async ({ db }: Database) => {
    const rows = await db
      .selectFrom('facts')
      .selectAll()
      .where('name', 'not like', 'migration %')
      .orderBy('name')
      .execute()
    return rows.map(({ name, value }) => `${name}=${value}`)
  }

  describe('PGlite', () => {
    let database: Database

    before(async () => {
      database = await openPGlite()
    })
    after(() => database.close())

    it('keeps a query out of a transaction that it does not belong to', async () => {
      const { db } = database
      let query: Promise<unknown> | undefined
      const transaction = db.transaction().execute(async (trx) => {
        await trx.insertInto('facts').values({ name: 'inside', value: '1' }).execute()
        query = db.insertInto('facts').values({ name: 'outside', value: '1' }).execute()
        throw new Error('rolled back')
      })
      await transaction.catch(() => {})
      await query
      expect(await facts(database)).to.deep.equal(['outside=1'])
    })

    it('runs transactions one after the other', async () => {
      const { db } = database
      await db.insertInto('facts').values({ name: 'count', value: '0' }).execute()
      const count = () =>
        db.transaction().execute(async (trx) => {
          const { value } = await trx
            .selectFrom('facts')
            .where('name', '=', 'count')
            .select('value')
            .executeTakeFirstOrThrow()
          await trx
            .updateTable('facts')
            .set({ value: String(Number(value) + 1) })
            .where('name', '=', 'count')
            .execute()
        })
      await Promise.all(Array.from({ length: 20 }, count))
      expect(await facts(database)).to.include('count=20')
    })
  })

  it('takes nothing for PGlite that the environment says of a server', async () => {
    const said = { PGHOST: '192.0.2.1', PGUSER: 'nobody', PGDATABASE: 'nothing', PGSSLMODE: 'require' }
    const before = { ...process.env }
    Object.assign(process.env, said)
    try {
      const database = await openPGlite()
      expect(await facts(database)).to.deep.equal([])
      await database.close()
    } finally {
      for (const name of Object.keys(said)) delete process.env[name]
      Object.assign(process.env, before)
    }
  })

  it('keeps its folder from a second process, and lets go when it dies', async () => {
    const where = join(folder, 'locked')
    const first = await openPGlite(where)
    const error = await openPGlite(where).catch((thrown: unknown) => thrown)
    expect(error)
      .to.be.instanceOf(OperatorError)
      .and.have.property('message')
      .that.includes('is in use by another process')
    await first.close()

    // A process that locks the folder and dies without a word.
    const module = fileURLToPath(new URL('../../../services/database/database-folder.ts', import.meta.url))
    const script = `const { lockFolder } = await import(${JSON.stringify(module)})
      await lockFolder(${JSON.stringify(where)}); process.kill(process.pid, 'SIGKILL')`
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).to.equal('SIGKILL')
    const again = await openPGlite(where)
    await again.close()
  })

  it('looks rows up by their indexes, though nobody gathers statistics', async () => {
    const database = await openPGlite()
    const hashes = Array.from({ length: 500 }, (_, index) => `0x${index}`)
    await sql`
      insert into attempts (hash, relay, kind, account, account_nonce, raw, max_fee_per_gas, created_at_ms)
      select '0x' || i, '0x' || i, 'call', '0x', i, '0x', 1, 1 from generate_series(1, 5000) as i`.execute(database.db)
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select hash from attempts where relay = any(${hashes}::text[])`.execute(database.db)
    await database.close()
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).to.include('attempts_relay')
  })

  it('goes on with what it has acknowledged when PGlite could not write its log and can again', async () => {
    const where = join(folder, 'stopping')
    const database = await openPGlite(where)
    // What is random is not compressed: with the second value, a further file of the log is needed.
    const write = (name: string) =>
      database.db
        .insertInto('facts')
        .values({ name, value: randomBytes(300_000).toString('hex') })
        .execute()
        .then(
          () => name,
          ({ code }: { code?: string }) => code,
        )
    const acknowledged = []
    const log = join(where, 'pgdata', 'pg_wal')
    await rename(log, `${log}-away`)
    let written: string | undefined
    for (let count = 0; (written = await write(`fact ${count}`)) !== 'UPSTREAM_UNAVAILABLE'; count++) {
      acknowledged.push(written)
    }
    expect(await write('while it cannot')).to.equal('UPSTREAM_UNAVAILABLE')
    await rename(`${log}-away`, log)
    await until(async () => (await write('again')) === 'again')
    const { rows } = await sql<{ name: string }>`select name from facts where length(value) = 600000`.execute(
      database.db,
    )
    expect(rows.map(({ name }) => name)).to.have.members([...acknowledged, 'again'])
    await database.close()
  })

  it('clears dead rows away, while it runs and when it starts', async () => {
    const where = join(folder, 'upkeep')
    const isClear = async ({ db }: Database, table: string) => {
      const { rows } = await sql<{ pages: number }>`
        select relallvisible as pages from pg_class where relname = ${table}`.execute(db)
      return rows[0]?.pages === 1
    }
    const first = await openDatabase({ url: null, folder: where, schema, poolSize: 1, upkeepEveryMs: 10 })
    await first.db.insertInto('facts').values({ name: 'changing', value: '0' }).execute()
    await first.db.updateTable('facts').set({ value: '1' }).where('name', '=', 'changing').execute()
    const attempt = { account: '0x', raw: '0x', max_fee_per_gas: '1', created_at_ms: 1 }
    await first.db
      .insertInto('attempts')
      .values({ ...attempt, hash: '0x1', relay: '0x1', kind: 'call', account_nonce: 1 })
      .execute()
    while (!(await isClear(first, 'facts'))) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await isClear(first, 'attempts')).to.equal(false)
    await first.close()
    const again = await openPGlite(where)
    expect(await isClear(again, 'attempts')).to.equal(true)
    await again.close()
  })

  it('makes a checkpoint when its log is long, since nobody else does', async () => {
    const where = join(folder, 'log')
    const database = await openDatabase({ url: null, folder: where, schema, poolSize: 1, upkeepEveryMs: 100 })
    const logBytes = async () => {
      const { rows } = await sql<{ bytes: string }>`
        select pg_current_wal_lsn() - redo_lsn as bytes from pg_control_checkpoint()`.execute(database.db)
      return Number(rows[0]?.bytes)
    }
    const megabytes = (count: number) =>
      sql`select pg_logical_emit_message(false, '', repeat('x', 1048576)) from generate_series(1, ${count})`
    try {
      await megabytes(8).execute(database.db)
      expect(await logBytes(), 'no checkpoint without need').to.be.greaterThan(8 * MIB)
      await megabytes(60).execute(database.db)
      await until(async () => (await logBytes()) < MIB)
    } finally {
      await database.close()
    }
  })

  it('keeps what was stored', async () => {
    const where = join(folder, 'kept')
    const first = await openPGlite(where)
    await first.db.insertInto('facts').values({ name: 'kept', value: 'yes' }).execute()
    await first.close()
    const again = await openPGlite(where)
    expect(await facts(again)).to.deep.equal(['kept=yes'])
    await again.close()
  })

  describe('PostgreSQL', () => {
    /** @returns the URL of a database with this default for its sessions */
    const databaseWith = async (setting: string) => {
      const url = await postgres.createDatabase()
      const operator = new pg.Client(url)
      await operator.connect()
      await operator.query(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`)
      await operator.end()
      return url
    }
    const settingOf = async (url: string, name: string) => {
      const database = await openPostgres(url)
      const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(database.db)
      await database.close()
      return rows[0]?.value
    }

    it('works at the level of isolation that its statements are written for, whatever the default of the database', async () => {
      const url = await databaseWith('default_transaction_isolation = serializable')
      expect(await settingOf(url, 'transaction_isolation')).to.equal('read committed')
    })

    it('stores nothing that a crash would lose, whatever the default of the database', async () => {
      expect(await settingOf(await databaseWith('synchronous_commit = off'), 'synchronous_commit')).to.equal('on')
      const stricter = await databaseWith('synchronous_commit = remote_apply')
      expect(await settingOf(stricter, 'synchronous_commit')).to.equal('remote_apply')
    })

    it('is migrated once by processes that start together', async () => {
      const url = await postgres.createDatabase()
      const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)))
      expect(await Promise.all(opened.map(facts))).to.deep.equal([[], [], [], []])
      await Promise.all(opened.map((one) => one.close()))
    })

    it('lets one at a time have a key, across processes, and each key by itself', async () => {
      const url = await postgres.createDatabase()
      const databases = await Promise.all([openPostgres(url), openPostgres(url)])
      const order: string[] = []
      const work = async (name: string, index: number) => {
        await databases[index % 2]?.exclusively('key', async (db) => {
          order.push(`${name} in`)
          await db.selectFrom('facts').selectAll().execute()
          await new Promise((resolve) => setTimeout(resolve, 10))
          order.push(`${name} out`)
        })
      }
      const other = databases[0]?.exclusively('another', async () => order.length)
      await Promise.all(['a', 'b', 'c', 'd'].map(work))
      await other
      for (let index = 0; index < order.length; index += 2) {
        expect(order[index + 1]).to.equal(order[index]?.replace('in', 'out'))
      }
      expect(order).to.have.lengthOf(8)
      await Promise.all(databases.map((one) => one.close()))
    })

    it('leaves connections for the work under many keys', async () => {
      const database = await openPostgres(await postgres.createDatabase())
      const { promise: allBegan, resolve: began } = Promise.withResolvers<void>()
      let left = 2
      const answers = Array.from({ length: 20 }, (_, index) =>
        database.exclusively(`key ${index}`, async () => {
          // Two begin before either goes on.
          if (--left === 0) began()
          await allBegan
          return sql<{ one: number }>`select ${index}::int as one`.execute(database.db)
        }),
      )
      const ones = (await Promise.all(answers)).flatMap(({ rows }) => rows.map(({ one }) => one))
      await database.close()
      expect(ones).to.deep.equal(Array.from({ length: 20 }, (_, index) => index))
    })

    it('lets go of a key when the work fails', async () => {
      const database = await openPostgres(await postgres.createDatabase())
      const failed = database.exclusively('key', async () => {
        throw new Error('the work')
      })
      expect(await failed.catch((error: unknown) => String(error))).to.include('the work')
      expect(await database.exclusively('key', async () => 'free')).to.equal('free')
      await database.close()
    })
  })
})

describe('createWriteProbe', () => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: null, folder: null, schema: 'touchstone_1', poolSize: 1 })
  })
  after(() => database.close())

  it('sees a database that can be read and not be written, and that it can be again', async () => {
    const probe = createWriteProbe(database.db)
    await sql`set default_transaction_read_only = on`.execute(database.db)
    const error = await probe().catch((thrown: unknown) => thrown)
    await sql`set default_transaction_read_only = off`.execute(database.db)
    expect(error).to.have.property('code', '25006')
    await probe()
  })

  it('looks once for all who ask within seconds, and anew after a failure', async () => {
    let looks = 0
    let isFull = true
    const probe = createWriteProbe(database.db, async () => {
      looks++
      if (isFull) throw new Error('full')
    })
    const failed = await Promise.allSettled(Array.from({ length: 100 }, probe))
    expect(failed.every(({ status }) => status === 'rejected')).to.equal(true)
    expect(looks).to.equal(1)
    isFull = false
    await Promise.all(Array.from({ length: 100 }, probe))
    for (let count = 0; count < 100; count++) await probe()
    expect(looks).to.equal(2)
  })
})
