import type { PGlite } from '@electric-sql/pglite'
import { expect } from 'chai'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { createLastingPGlite, hasFailed, PGliteStream, startPGlite } from '../../../services/database/pglite.ts'
import { countingTurns } from '../../support/turns.ts'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

describe('PGliteStream', () => {
  let pglite: PGlite

  before(async () => {
    pglite = await startPGlite(undefined, true)
  })
  after(() => pglite.close())

  async function withClient<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const stream = () => new PGliteStream(createLastingPGlite(pglite))
    const client = new pg.Client({ user: 'postgres', stream, ssl: false })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  it('leaves PGlite to the next client when one goes', async () => {
    for (const number of [1, 2]) {
      const { rows } = await withClient((client) => client.query('select $1::int as number', [number]))
      expect(rows).to.deep.equal([{ number }])
    }
  })

  it('goes on after an error, which comes with its code', async () => {
    await withClient(async (client) => {
      const error: unknown = await client.query('select 1 / $1::int', [0]).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('code', '22012')
      expect((await client.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }])
    })
  })

  it('lets the event loop turn while statement follows statement', async () => {
    const statements = 20
    const turns = await withClient((client) =>
      countingTurns(async (turn) => {
        for (let done = 0; done < statements; done++) {
          await client.query('select count(*) from generate_series(1, 300000)')
        }
        return turn()
      }),
    )
    expect(turns).to.be.at.least(statements - 1)
  })

  it('asks no more of a PostgreSQL that has stopped: its answer would never come', async () => {
    const fields = ['SPANIC', 'VPANIC', 'C53100', 'Mcould not write to log file', ''].join('\0')
    const message = Buffer.alloc(5 + fields.length + 1)
    message.write('E')
    message.writeUInt32BE(message.length - 1, 1)
    message.write(fields, 5)
    let asked = 0
    const stopping = {
      execProtocolRawStream: async (
        _messages: Uint8Array,
        { onRawData }: { onRawData: (piece: Uint8Array) => void },
      ) => {
        asked++
        onRawData(message)
      },
    } as unknown as PGlite
    const lasting = createLastingPGlite(stopping)
    const failureOf = async (stream: PGliteStream) => {
      const [error] = (await once(stream, 'error')) as [Error & { cause?: Error }]
      expect(error).to.have.property('code', 'UPSTREAM_UNAVAILABLE')
      return error.cause?.message
    }
    const connected = new PGliteStream(lasting).connect()
    await once(connected, 'connect')
    const failure = failureOf(connected)
    connected.write(Buffer.from('a query'))
    expect(await failure).to.equal('could not write to log file')
    expect(await failureOf(new PGliteStream(lasting).connect())).to.equal('the embedded database has stopped')
    expect(asked).to.equal(1)
    expect(hasFailed(stopping)).to.equal(true)
    expect(hasFailed(pglite)).to.equal(false)
  })

  it('takes what is longer than one write', async () => {
    const long = 'x'.repeat(3_000_000)
    const { rows } = await withClient((client) => client.query('select $1::text as long', [long]))
    expect(rows).to.deep.equal([{ long }])
  })

  it('keeps nothing of an answer', async () => {
    const heapMb = usedHeapMb()
    await withClient(async (client) => {
      for (let times = 0; times < 50; times++) await client.query(`select repeat('x', 1000000)`)
    })
    expect(usedHeapMb() - heapMb).to.be.below(20)
  })
})

/** What the heap holds without garbage. */
function usedHeapMb(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed / 1e6
}

describe('startPGlite', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-pglite-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('starts an empty database, in memory and in a folder, that keeps what is written', async () => {
    for (const data of [undefined, join(folder, 'pgdata')]) {
      const pglite = await startPGlite(data, true)
      expect((await pglite.query(`select 1 from pg_tables where schemaname = 'public'`)).rows).to.deep.equal([])
      expect((await pglite.query('select datname from pg_database')).rows).to.deep.equal([{ datname: 'postgres' }])
      await pglite.exec('create table kept as select 7 as value')
      await pglite.close()
    }
    const again = await startPGlite(join(folder, 'pgdata'), false)
    expect((await again.query('select value from kept')).rows).to.deep.equal([{ value: 7 }])
    await again.close()
  })

  it('keeps an archive for the next start, closed to others, and makes another one of one that is damaged', async () => {
    const archive = join(folder, 'cache', 'empty.tar')
    for (const archived of ['nothing', 'damaged', 'whole']) {
      if (archived === 'damaged') await writeFile(archive, 'no archive')
      const before = archived === 'whole' ? (await stat(archive)).mtimeMs : undefined
      const pglite = await startPGlite(join(folder, archived), true, archive)
      expect((await pglite.query('select 7 as value')).rows).to.deep.equal([{ value: 7 }])
      await pglite.close()
      const { size, mode, mtimeMs } = await stat(archive)
      expect([size > 1_000_000, mode & 0o077]).to.deep.equal([true, 0])
      if (before !== undefined) expect(mtimeMs).to.equal(before)
    }
  })

  it('starts where no archive can be kept', async () => {
    await writeFile(join(folder, 'file'), '')
    await (await startPGlite(undefined, true, join(folder, 'file', 'empty.tar'))).close()
  })
})
