import { expect } from 'chai'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CheckContext } from '../../../lib/clause.ts'
import { createTurns, turnsOf } from '../../../lib/relay/turns.ts'

/** A run on a chain whose first block has this hash. Everything else is the same on all development chains. */
function runOn(firstBlock: string): CheckContext {
  const account = { address: '0x01', privateKey: '0x02' }
  const context = {
    fixture: { chain: { chainId: 31_337 }, profile: { keyManager: '0x03' }, controllers: { full: account } },
    chain: { attempt: async () => ({ result: { hash: firstBlock } }) },
    once: (_name: string, make: (t: CheckContext) => unknown) => make(context),
  } as unknown as CheckContext
  return context
}

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
    // No system gives this process id.
    await writeFile(path, '2147483646 dead')
    expect(await createTurns(path).take(async () => 'taken')).to.equal('taken')
  })

  it('are taken on one chain together, and on chains that share an id apart', async () => {
    const [one, same, other] = await Promise.all(['0x0a', '0x0a', '0x0b'].map((hash) => turnsOf(runOn(hash))))
    const order: string[] = []
    const { promise: isDone, resolve: end } = Promise.withResolvers<void>()
    const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>()
    const first = one?.take(() => {
      begin()
      return isDone
    })
    await hasBegun
    const second = same?.take(async () => order.push('same'))
    await other?.take(async () => order.push('other'))
    end()
    await Promise.all([first, second])
    expect(order).to.deep.equal(['other', 'same'])
  })
})
