import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { shared } from '../../concurrency/shared.ts'

describe('shared', () => {
  it('works once for all who ask while it is under way, and for a while after', async () => {
    let works = 0
    const ask = shared(50, async () => {
      works++
      await sleep(80)
      return works
    })
    expect(await Promise.all([ask(), ask(), sleep(60).then(() => ask())])).to.deep.equal([1, 1, 1])
    expect(await ask()).to.equal(2)

    const keep = shared(60_000, () => Promise.resolve(++works))
    expect([await keep(), await keep()]).to.deep.equal([3, 3])
  })

  it('tells a failure, and does not keep it', async () => {
    let works = 0
    const ask = shared(60_000, async () => {
      if (++works === 1) throw new Error('away')
      return Promise.resolve(works)
    })
    const outcomes = await Promise.allSettled([ask(), ask()])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(await ask()).to.equal(2)
  })
})
