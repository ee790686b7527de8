import { expect } from 'chai'
import { AsyncLocalStorage } from 'node:async_hooks'
import { microBatch } from '../../services/micro-batch.ts'

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

  /** What the runs got, when two items come one after the other during a first run that ends only when it is told to. */
  async function runsBesideALongOne(staggerMs: number, endWhen: (runs: number[][]) => boolean): Promise<number[][]> {
    const runs: number[][] = []
    const first = Promise.withResolvers<void>()
    const same = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        if (endWhen(runs)) first.resolve()
        if (runs.length === 1) await first.promise
        return items
      },
      { maxItems: 3, maxRuns: 2, staggerMs },
    )
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const answers = [same(0)]
    await turn()
    for (const item of [1, 2]) {
      answers.push(same(item))
      await turn()
    }
    if (endWhen([])) first.resolve()
    await Promise.all(answers)
    return runs
  }

  it('gathers while a run is under way, and goes on without it when it takes long', async () => {
    expect(await runsBesideALongOne(60_000, (runs) => runs.length === 0)).to.deep.equal([[0], [1, 2]])
    expect(await runsBesideALongOne(20, (runs) => runs.flat().length === 3)).to.deep.equal([[0], [1, 2]])
    expect(await runsBesideALongOne(0, (runs) => runs.flat().length === 3)).to.deep.equal([[0], [1], [2]])
  })

  it('gathers no more than a run can take', async () => {
    const runs: number[][] = []
    const first = Promise.withResolvers<void>()
    const same = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        if (runs.length === 1) await first.promise
        else first.resolve()
        return items
      },
      { maxItems: 2, maxRuns: 2, staggerMs: 60_000 },
    )
    const begun = same(0)
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([begun, same(1), same(2)])
    expect(runs).to.deep.equal([[0], [1, 2]])
  })
})
