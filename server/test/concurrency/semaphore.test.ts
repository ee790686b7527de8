import { expect } from 'chai'
import { Semaphore } from '../../concurrency/semaphore.ts'

describe('Semaphore', () => {
  /** Starts tasks that end when they are told to. */
  function startTasks(semaphore: Semaphore, count: number) {
    const begun: number[] = []
    const ends: PromiseWithResolvers<void>[] = []
    const done = Array.from({ length: count }, (_, index) => {
      const end = Promise.withResolvers<void>()
      ends.push(end)
      return semaphore.run(async () => {
        begun.push(index)
        await end.promise
        return index
      })
    })
    return { begun, ends, done }
  }
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  it('runs so many at a time, the others in the order in which they came', async () => {
    const { begun, ends, done } = startTasks(new Semaphore(2), 4)
    await nextTurn()
    expect(begun).to.deep.equal([0, 1])
    ends[1]?.resolve()
    await nextTurn()
    expect(begun).to.deep.equal([0, 1, 2])
    for (const { resolve } of ends) resolve()
    expect(await Promise.all(done)).to.deep.equal([0, 1, 2, 3])
  })

  it('gives the place of a task that fails to the next one', async () => {
    const { ends, done } = startTasks(new Semaphore(1), 2)
    ends[0]?.reject(new Error('failed'))
    ends[1]?.resolve()
    const outcomes = await Promise.allSettled(done)
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled'])
  })

  it('hands a place on to the one who waits, not to the one who comes meanwhile', async () => {
    const semaphore = new Semaphore(1)
    const release = await semaphore.acquire()
    const order: string[] = []
    const waiting = semaphore.run(async () => void order.push('waited'))
    release()
    const late = semaphore.run(async () => void order.push('late'))
    await Promise.all([waiting, late])
    expect(order).to.deep.equal(['waited', 'late'])
  })

  it('takes a place back once, however often it is given back', async () => {
    const semaphore = new Semaphore(1)
    const release = await semaphore.acquire()
    release()
    release()
    const { begun, ends, done } = startTasks(semaphore, 2)
    await nextTurn()
    expect(begun).to.deep.equal([0])
    for (const { resolve } of ends) resolve()
    await Promise.all(done)
  })
})
