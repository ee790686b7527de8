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

  it('waits for company as long as it is told to', async () => {
    const runs: number[][] = []
    const same = microBatch(
      async (items: readonly number[]) => {
        runs.push([...items])
        return items
      },
      { maxItems: 10, lingerMs: () => 20 },
    )
    const first = same(1)
    await new Promise((resolve) => setTimeout(resolve, 2))
    await Promise.all([first, same(2)])
    expect(runs).to.deep.equal([[1, 2]])
  })
})
