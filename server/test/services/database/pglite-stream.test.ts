import { PGlite } from '@electric-sql/pglite'
import { expect } from 'chai'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import pg from 'pg'
import { PGliteStream } from '../../../services/database/pglite.ts'

describe('PGliteStream', () => {
  let pglite: PGlite

  before(async () => {
    pglite = await PGlite.create()
  })
  after(() => pglite.close())

  async function withClient<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = new pg.Client({ user: 'postgres', stream: () => new PGliteStream(pglite), ssl: false })
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
