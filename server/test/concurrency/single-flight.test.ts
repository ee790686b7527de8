import { expect } from 'chai'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { SingleFlight } from '../../concurrency/single-flight.ts'
import { until } from '../support/until.ts'

/** Calls that the test ends, one after the other. */
function controlledCalls() {
  const begun: {
    readonly key: string
    readonly end: (answer: string) => void
    readonly fail: (error: Error) => void
  }[] = []
  const flights = new SingleFlight()
  const beginOf = (key: string) => () =>
    new Promise<string>((resolve, reject) => void begun.push({ key, end: resolve, fail: reject }))
  /** Resolves when so many calls have begun. */
  const untilBegun = (count: number) => until(() => begun.length >= count)
  return {
    begun,
    untilBegun,
    run: (key: string) => flights.run(key, beginOf(key)),
    fresh: (key: string) => flights.fresh(key, beginOf(key)),
  }
}

describe('SingleFlight', () => {
  it('makes one call for all who ask before it begins', async () => {
    const { begun, untilBegun, run } = controlledCalls()
    const answers = [run('head'), run('head'), run('head')]
    await untilBegun(1)
    begun[0]?.end('0x1')
    expect(await Promise.all(answers)).to.deep.equal(['0x1', '0x1', '0x1'])
    expect(begun.length).to.equal(1)
  })

  it('makes calls for different keys at the same time', async () => {
    const { begun, untilBegun, run } = controlledCalls()
    const answers = [run('one'), run('two')]
    await untilBegun(2)
    for (const { key, end } of begun) end(key)
    expect(await Promise.all(answers)).to.deep.equal(['one', 'two'])
  })

  it('gives nothing that was read before the question: run tells so, and fresh asks again', async () => {
    const { begun, untilBegun, run, fresh } = controlledCalls()
    const first = fresh('head')
    await untilBegun(1)
    const late = run('head')
    const next = [fresh('head'), fresh('head')]
    begun[0]?.end('0x1')
    expect([await first, await late]).to.deep.equal(['0x1', undefined])
    await untilBegun(2)
    begun[1]?.end('0x2')
    expect(await Promise.all(next)).to.deep.equal(['0x2', '0x2'])
    expect(begun.length).to.equal(2)
  })

  it('tells a failure to those who took part, and keeps it from those after them', async () => {
    const { begun, untilBegun, fresh } = controlledCalls()
    const [first, failing] = [fresh('head'), fresh('head').catch((error: Error) => error.message)]
    first.catch(() => undefined)
    await untilBegun(1)
    const next = fresh('head')
    begun[0]?.fail(new Error('gone'))
    expect(await failing).to.equal('gone')
    await untilBegun(2)
    begun[1]?.end('0x2')
    expect(await next).to.equal('0x2')
  })

  it('lets those who were answered take part in the next call, when they ask again at once', async () => {
    const { begun, untilBegun, fresh } = controlledCalls()
    const answered = [fresh('head'), fresh('head')]
    await untilBegun(1)
    const waiting = [fresh('head'), fresh('head')]
    begun[0]?.end('0x1')
    await Promise.all(answered)
    const again = [fresh('head'), fresh('head')]
    await untilBegun(2)
    begun[1]?.end('0x2')
    expect(await Promise.all([...waiting, ...again])).to.deep.equal(['0x2', '0x2', '0x2', '0x2'])
    expect(begun.length).to.equal(2)
  })

  it('does not wait for those who were answered and do not come back', async () => {
    const { begun, untilBegun, fresh } = controlledCalls()
    const answered = [fresh('head'), fresh('head'), fresh('head')]
    await untilBegun(1)
    const next = fresh('head')
    begun[0]?.end('0x1')
    await Promise.all(answered)
    await untilBegun(2)
    begun[1]?.end('0x2')
    expect(await next).to.equal('0x2')
  })

  it('begins at once for a caller that is alone', async () => {
    const { begun, untilBegun, fresh } = controlledCalls()
    for (const answer of ['0x1', '0x2']) {
      const asked = fresh('head')
      await untilBegun(begun.length + 1)
      begun.at(-1)?.end(answer)
      expect(await asked).to.equal(answer)
    }
    await sleep(5)
    const later = fresh('head')
    const turns: number[] = []
    while (begun.length < 3 && turns.length < 100) {
      await nextTurn()
      turns.push(turns.length)
    }
    expect(turns.length).to.be.lessThan(8)
    begun[2]?.end('0x3')
    expect(await later).to.equal('0x3')
  })
})
