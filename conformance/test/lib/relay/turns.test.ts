import { expect } from 'chai'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createTurns } from '../../../lib/relay/turns.ts'

describe('turns of several runs', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-turns-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('come one after the other, and leave nothing behind', async () => {
    const path = join(folder, 'lock')
    let working = 0
    const work = async (): Promise<void> => {
      expect(++working).to.equal(1)
      await delay(5)
      working--
    }
    const runs = [1, 2, 3].map(() => createTurns(path))
    await Promise.all(
      runs.map(async (turns) => {
        for (let turn = 0; turn < 4; turn++) await turns.take(work)
      }),
    )
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('hold work within work', async () => {
    const turns = createTurns(join(folder, 'lock'))
    expect(await turns.take(() => turns.take(async () => 'done'))).to.equal('done')
  })

  it('are given up when the work fails, and taken over from a process that is dead', async () => {
    const path = join(folder, 'lock')
    const failed: unknown = await createTurns(path)
      .take(async () => {
        throw new Error('no')
      })
      .catch((error: unknown) => error)
    expect((failed as Error).message).to.equal('no')
    // No process has this id: it is beyond what any system gives.
    await writeFile(path, '2147483646 dead')
    expect(await createTurns(path).take(async () => 'taken')).to.equal('taken')
  })
})
