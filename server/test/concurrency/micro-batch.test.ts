import { expect } from 'chai'
import { AsyncLocalStorage } from 'node:async_hooks'
import { microBatch } from '../../concurrency/micro-batch.ts'

describe('micro batch', () => {
  it('runs what comes together in one go, and answers each', async () => {
    const runs: number[][] = []
    const double = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        return items.map((item) => item * 2)
      },
      { maxItems: 10 },
    )
    expect(await Promise.all([1, 2, 3].map(double))).to.deep.equal([2, 4, 6])
    expect(runs).to.deep.equal([[1, 2, 3]])
  })

  it('takes what comes during a run along with the next one, and never more than it may', async () => {
    const runs: number[][] = []
    let open: (() => void) | undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const same = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        if (runs.length === 1) await gate
        return items
      },
      { maxItems: 2 },
    )
    const first = same(0)
    await new Promise((resolve) => setImmediate(resolve))
    const rest = [1, 2, 3].map(same)
    open?.()
    expect(await Promise.all([first, ...rest])).to.deep.equal([0, 1, 2, 3])
    expect(runs).to.deep.equal([[0], [1, 2], [3]])
  })

  it('works in the context of one who asked, not of the run before', async () => {
    const contexts = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const note = microBatch(
      async (items: readonly number[]) => {
        seen.push(contexts.getStore())
        await new Promise((resolve) => setImmediate(resolve))
        return items
      },
      { maxItems: 10 },
    )
    const first = contexts.run('first', () => note(0))
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([first, contexts.run('second', () => note(1)), contexts.run('third', () => note(2))])
    expect(seen).to.deep.equal(['first', 'second'])
  })

  it('fails one item alone, or all of a run', async () => {
    const picky = microBatch(
      async (items: readonly number[]) => {
        if (items.includes(13)) throw new Error('the run')
        return items.map((item) => (item < 0 ? new Error('the item') : item))
      },
      { maxItems: 10 },
    )
    const outcomes = await Promise.allSettled([1, -1, 2].map(picky))
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled'])
    const failed = await Promise.allSettled([1, 13].map(picky))
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(await picky(5)).to.equal(5)
  })

  /** Runs that end only when they are told to. */
  function heldRuns(gatherMs: number, maxRuns = 2) {
    const runs: number[][] = []
    const held: PromiseWithResolvers<void>[] = []
    const same = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        const one = Promise.withResolvers<void>()
        held.push(one)
        await one.promise
        return items
      },
      { maxItems: 3, maxRuns, gatherMs },
    )
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const answers: Promise<number>[] = []
    return {
      runs,
      /** Some that come together, and the turn in which they may begin. */
      come: async (...items: number[]) => {
        answers.push(...items.map(same))
        await turn()
      },
      end: async (index: number) => {
        held[index]?.resolve()
        await turn()
        await turn()
      },
      /** Ends every run, also those that begin by that. @returns the answers */
      endAll: async () => {
        for (let next = 0; next < held.length; next++) {
          held[next]?.resolve()
          await turn()
          await turn()
        }
        return Promise.all(answers)
      },
    }
  }

  const longEnough = 60_000

  it('gathers beside a run until as many wait as that one has', async () => {
    const { runs, come, endAll } = heldRuns(longEnough)
    await come(0, 1)
    await come(2)
    expect(runs).to.deep.equal([[0, 1]])
    await come(3)
    expect(runs).to.deep.equal([
      [0, 1],
      [2, 3],
    ])
    expect(await endAll()).to.deep.equal([0, 1, 2, 3])
  })

  it('lets nobody wait beside a single one', async () => {
    const { runs, come, endAll } = heldRuns(longEnough)
    await come(0)
    await come(1)
    expect(runs).to.deep.equal([[0], [1]])
    expect(await endAll()).to.deep.equal([0, 1])
  })

  it('gathers no more than a run can take', async () => {
    const { runs, come, endAll } = heldRuns(longEnough, 3)
    await come(0, 1)
    await come(2, 3)
    await come(4, 5)
    expect(runs).to.have.length(2)
    await come(6)
    expect(runs.at(-1)).to.deep.equal([4, 5, 6])
    expect(await endAll()).to.deep.equal([0, 1, 2, 3, 4, 5, 6])
  })

  it('gathers no longer than the run takes', async () => {
    const { runs, come, end, endAll } = heldRuns(longEnough)
    await come(0, 1)
    await come(2)
    await end(0)
    expect(runs).to.deep.equal([[0, 1], [2]])
    expect(await endAll()).to.deep.equal([0, 1, 2])
  })

  it('gathers no longer than it may', async () => {
    const runs: number[][] = []
    const both = Promise.withResolvers<void>()
    const same = microBatch(
      async (items: readonly number[]) => {
        if (runs.push([...items]) === 2) both.resolve()
        await both.promise
        return items
      },
      { maxItems: 3, maxRuns: 2, gatherMs: 20 },
    )
    const begun = [0, 1].map(same)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await Promise.all([...begun, same(2)])).to.deep.equal([0, 1, 2])
    expect(runs).to.deep.equal([[0, 1], [2]])
  })
})
