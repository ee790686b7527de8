import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts'

describe('KeyedSemaphore', () => {
  it('lets so many tasks of each key run, and makes no key wait for another', async () => {
    const semaphore = new KeyedSemaphore(2)
    const begun: string[] = []
    const end = Promise.withResolvers<void>()
    const run = (key: string) =>
      semaphore.run(key, async () => {
        begun.push(key)
        await end.promise
      })
    const tasks = ['a', 'a', 'a', 'a', 'b'].map(run)
    await nextTurn()
    expect(begun).to.deep.equal(['a', 'a', 'b'])
    expect(semaphore.size).to.equal(2)
    end.resolve()
    await Promise.all(tasks)
    expect(begun).to.have.length(5)
  })

  it('keeps nothing of a key whose tasks are over, also when they failed', async () => {
    const semaphore = new KeyedSemaphore(1)
    const fail = () => Promise.reject(new Error('failed'))
    await Promise.allSettled([semaphore.run('a', fail), semaphore.run('a', fail), semaphore.run('b', async () => {})])
    expect(semaphore.size).to.equal(0)
  })
})
