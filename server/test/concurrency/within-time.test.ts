import { expect } from 'chai'
import { withinTime } from '../../concurrency/within-time.ts'

describe('withinTime', () => {
  const late = () => new Error('late')
  const never = new Promise<never>(() => {})

  it('hands on what work resolves with or rejects with, at once or later', async () => {
    const laterMs = performance.now() + 60_000
    expect(await withinTime(Promise.resolve(1), laterMs, late)).to.equal(1)
    expect(await withinTime(new Promise((resolve) => setImmediate(resolve, 2)), laterMs, late)).to.equal(2)
    const failing = withinTime(Promise.reject(new Error('broken')), laterMs, late)
    expect(await failing.catch(({ message }: Error) => message)).to.equal('broken')
  })

  it('ends when the time is over, and not before, also when it is over already', async () => {
    for (const afterMs of [-5, 0, 20]) {
      const deadlineMs = performance.now() + afterMs
      const message = await withinTime(never, deadlineMs, late).catch((error: Error) => error.message)
      expect(message).to.equal('late')
      expect(performance.now()).to.be.at.least(deadlineMs)
    }
  })
})
