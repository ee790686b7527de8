import { expect } from 'chai'
import {
  allowedWidth,
  isNarrow,
  measureRising,
  measureWindow,
  testNarrow,
  type Asking,
  type Probe,
} from '../../../lib/relay/quota-window.ts'

/** Whether a target accepts a timestamp at its time, which is no whole number. */
type Accepts = (timestamp: number, nowSeconds: number) => boolean

/** Asks such a target in simulated time: each answer takes `latency` seconds, and pauses are a little uneven. */
function asker(accepts: Accepts, start: number, latency: number, options: { rising?: boolean } = {}): Asking<Probe> {
  let now = start
  let last = -Infinity
  let count = 0
  const ask = async (offset: number): Promise<Probe> => {
    now += 0.013 * (count++ % 7)
    const timestamp = Math.floor(now + offset)
    const sentAt = now
    now += latency
    const isServed = accepts(timestamp, sentAt + latency / 2) && !(options.rising && timestamp < last)
    if (isServed) last = Math.max(last, timestamp)
    return { timestamp, toldQuota: isServed, sentAt, receivedAt: now }
  }
  const untilWhole = async (away: number): Promise<void> => {
    now += Math.ceil(now + away) - (now + away) + 0.005
  }
  return { ask, untilWhole, supposedOffset: 0 }
}

const phases = Array.from({ length: 10 }, (_, index) => 1_800_000_000 + index / 10)

async function widths(accepts: Accepts, half = 5, latency = 0.02) {
  return Promise.all(
    phases.map(async (start) => {
      const asking = asker(accepts, start, latency)
      return measureWindow(asking, await asking.ask(0), half)
    }),
  )
}

describe('the window of accepted timestamps', () => {
  const { least, most } = allowedWidth(5)

  const lawful: Readonly<Record<string, Accepts>> = {
    'real time': (at, now) => Math.abs(at - now) <= 5,
    'whole seconds': (at, now) => Math.abs(at - Math.floor(now)) <= 5,
    'whole seconds, the edges left out': (at, now) => Math.abs(at - Math.floor(now)) < 5,
    'rounded seconds': (at, now) => Math.abs(at - Math.round(now)) <= 5,
    'a difference cut to whole seconds': (at, now) => Math.floor(Math.abs(at - now)) <= 5,
    'a clock three seconds ahead': (at, now) => Math.abs(at - now - 3) <= 5,
  }
  for (const [name, accepts] of Object.entries(lawful)) {
    for (const latency of [0, 0.3, 1.2]) {
      it(`is as wide as documented: ${name}, answers after ${latency} s`, async () => {
        for (const window of await widths(accepts, 5, latency)) {
          expect(window.leastWidth).to.be.at.most(most)
          expect(window.mostWidth).to.be.at.least(least)
        }
      })
    }
  }

  const wide: Readonly<Record<string, Accepts>> = {
    'nine seconds ago': (at, now) => at - now >= -9 && at - now <= 5,
    'nineteen seconds ago': (at, now) => at - Math.floor(now) >= -19 && at - Math.floor(now) <= 5,
    '28 seconds ahead': (at, now) => at - now >= -5 && at - now <= 28,
    'anything of the past': (at, now) => at - now <= 5,
  }
  for (const [name, accepts] of Object.entries(wide)) {
    it(`is too wide: ${name}`, async () => {
      for (const { leastWidth } of await widths(accepts)) expect(leastWidth).to.be.above(most)
    })
  }

  for (const half of [1, 2, 3]) {
    it(`is too narrow: ${half} s to each side`, async () => {
      for (const { mostWidth } of await widths((at, now) => Math.abs(at - now) <= half)) {
        expect(mostWidth).to.be.below(least)
      }
    })
  }

  for (const [name, halfWidth, refusalsPerAnswer] of [
    ['is as wide as documented, where the target refuses two of three', 5, 2],
    ['stays too narrow, where it refuses one of three', 2, 1],
    ['stays too narrow, where it refuses no other', 3, 0],
  ] as const) {
    it(`${name}: each refusal is tested again`, async () => {
      for (const start of phases) {
        const { ask, ...asking } = asker((at, now) => Math.abs(at - now) <= halfWidth, start, 0.02)
        const askExactly = async (away: number): Promise<Probe> => {
          await asking.untilWhole(away)
          return ask(away)
        }
        let asked = 0
        const moody = async (away: number): Promise<Probe> => {
          const probe = await ask(away)
          return { ...probe, toldQuota: probe.toldQuota && asked++ % 3 >= refusalsPerAnswer }
        }
        const first = await ask(0)
        const measured = await measureWindow({ ask: moody, ...asking }, first, 5)
        const window = await testNarrow({ ask: askExactly, ...asking }, measured, first, 5)
        expect(isNarrow(measured, 5)).to.equal(true)
        expect(isNarrow(window, 5)).to.equal(halfWidth < 5)
      }
    })
  }

  it('has a middle, which is the target’s now', async () => {
    for (const { middle } of await widths((at, now) => Math.abs(at - now - 3) <= 5)) {
      expect(middle).to.be.closeTo(3, 1)
    }
  })

  it('is found by timestamps that rise, where none may be older than the one before', async () => {
    for (const start of phases) {
      const asking = asker((at, now) => Math.abs(at - now) <= 5, start, 0.02, { rising: true })
      const first = await asking.ask(-20)
      const window = await measureRising(asking, { ...first, toldQuota: true, timestamp: start, sentAt: start }, 5)
      expect(window.leastWidth).to.be.within(7.5, most)
      expect(window.mostWidth).to.be.at.least(least)
    }
  })

  it('is that of the other edition too', async () => {
    const { least: leastLip, most: mostLip } = allowedWidth(300)
    for (const window of await widths((at, now) => Math.abs(at - Math.floor(now)) <= 300, 300)) {
      expect(window.leastWidth).to.be.at.most(mostLip)
      expect(window.mostWidth).to.be.at.least(leastLip)
    }
  })
})
