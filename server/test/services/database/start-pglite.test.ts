import { expect } from 'chai'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPGlite } from '../../../services/database/pglite.ts'

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
