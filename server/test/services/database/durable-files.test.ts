import { expect } from 'chai'
import fs from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { DatabaseAwayError } from '../../../services/database/postgres-pool.ts'
import { createLastingPGlite, PGliteStream, startPGlite } from '../../../services/database/pglite.ts'
import { type Disk, watchDisk } from '../../support/power.ts'

describe('the files of the embedded database', () => {
  let folder: string
  let made: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-power-'))
    made = join(folder, 'made')
    const pglite = await startPGlite(made, true)
    await pglite.exec('create table kept (value int primary key, text text)')
    // What is compressed would not fill the files of the log, of one megabyte each.
    await pglite.exec('alter table kept alter column text set storage external')
    await pglite.exec('create table others as select generate_series(1, 100) as value')
    await pglite.close()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** Runs on a copy of the database whose disk is watched. */
  async function withDisk<Result>(
    options: Parameters<typeof watchDisk>[1],
    work: (query: pg.Client['query'], disk: Disk) => Promise<Result>,
  ): Promise<Result> {
    const data = join(await mkdtemp(join(folder, 'power-')), 'data')
    await cp(made, data, { recursive: true })
    const disk = watchDisk(data, options)
    try {
      const pglite = await startPGlite(data, false)
      const stream = () => new PGliteStream(createLastingPGlite(pglite))
      const client = new pg.Client({ user: 'postgres', stream, ssl: false })
      client.on('error', () => {})
      await client.connect()
      const result = await work(client.query.bind(client), disk)
      await client.end()
      await pglite.close()
      return result
    } finally {
      disk.release()
    }
  }

  /** The values in the table, and whether the second table is there and how many rows it has. */
  async function contentOf(data: string): Promise<{ values: number[]; others: number | undefined }> {
    const pglite = await startPGlite(data, false)
    const { rows } = await pglite.query<{ value: number }>('select value from kept order by value')
    const { rows: others } = await pglite
      .query<{ count: number }>('select count(*)::int from others')
      .catch(() => ({ rows: [] }))
    await pglite.close()
    return { values: rows.map(({ value }) => value), others: others[0]?.count }
  }

  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
  const isOfData = (path: string) => !path.includes('/pg_wal/')

  for (const [name, options] of [
    ['nothing gets to the disk that nobody waits for', {}],
    ['all but the log gets to the disk at once', { isWrittenEarly: isOfData }],
    ['the disk is slow', { isWrittenEarly: isOfData, waitMs: 5 }],
  ] as const) {
    it(`hold all that was acknowledged when the power fails: ${name}`, async () => {
      const left = await withDisk(options, async (query, disk) => {
        const folders = new Map<string, number>()
        for (let value = 1; value <= 40; value++) {
          await query('insert into kept values ($1, $2)', [value, 'x'.repeat((value * 12_347) % 50_000)])
          if (value % 15 === 0) await query('update kept set text = text')
          if (value % 20 === 0) await query('checkpoint')
          if (value % 5 === 0) folders.set(disk.cutPower(), value)
        }
        return folders
      })
      for (const [data, value] of left) expect((await contentOf(data)).values).to.deep.equal(upTo(value))
    })
  }

  it('hold a whole database when the power fails within a checkpoint, or while files are removed', async () => {
    const left = await withDisk({ isWrittenEarly: isOfData }, async (query, disk) => {
      const folders: string[] = []
      await query('insert into kept values (1)')
      disk.onChange = (path) => path.endsWith('pg_control') && folders.push(disk.cutPower())
      await query('checkpoint')
      disk.onChange = (path) => isOfData(path) && folders.push(disk.cutPower())
      await query('drop table others')
      disk.onChange = () => {}
      return folders
    })
    expect(left).to.have.length.of.at.least(3)
    for (const data of left) {
      const { values, others } = await contentOf(data)
      expect(values).to.deep.equal([1])
      expect(others).to.be.oneOf([undefined, 100])
    }
  })

  it('leave the event loop to others while a slow disk is waited for, and wait only for what is written', async () => {
    await withDisk({ waitMs: 5 }, async (query, { waits }) => {
      const before = { ...waits }
      for (let value = 1; value <= 10; value++) {
        await query('insert into kept values ($1)', [value])
        await query('select 1 from kept')
      }
      expect([waits.here - before.here, waits.inThread - before.inThread]).to.deep.equal([1, 9])
    })
  })

  for (const [how, waitMs] of [
    ['the event loop', 0],
    ['a thread', 5],
  ] as const) {
    it(`say that nothing is certain where the disk fails while ${how} waits for it`, async () => {
      await withDisk({ waitMs }, async (query) => {
        await query('insert into kept values (1)')
        const { fdatasync, fdatasyncSync } = fs
        const failure = new Error('EIO: i/o error, fdatasync')
        const fail = (_: number, done?: (error: Error) => void) => {
          if (!done) throw failure
          done(failure)
        }
        Object.assign(fs, { fdatasync: fail, fdatasyncSync: fail })
        try {
          const thrown: unknown = await query('insert into kept values (2)').catch((error: unknown) => error)
          expect(thrown).to.be.instanceOf(DatabaseAwayError).with.property('isUnknown', true)
        } finally {
          Object.assign(fs, { fdatasync, fdatasyncSync })
        }
      })
    })
  }
})
