import { expect } from 'chai'
import type { CheckContext } from '../../../lib/context.ts'
import { reach, setClock } from '../../../lib/relay/quota-clock.ts'
import { createTargetClock } from '../../../lib/target-clock.ts'

describe('the accepted window', () => {
  it('reaches to its edge, and no farther than one looks', async () => {
    for (const edge of [0, 1, 2, 3, 5, 8, 31, 300]) {
      expect(await reach(async (at) => at <= 1000 + edge, 1000, 1, 900), `${edge} ahead`).to.equal(edge)
      expect(await reach(async (at) => at >= 1000 - edge, 1000, -1, 900), `${edge} ago`).to.equal(edge)
    }
    expect(await reach(async () => true, 1000, 1, 900)).to.equal(900)
  })

  it('tells the clock of a target that sends no Date header', async () => {
    for (const aheadSeconds of [-97, -4, 0, 3, 60]) {
      const clock = createTargetClock()
      const accepts = async (at: number): Promise<boolean> =>
        Math.abs(at - Math.floor(Date.now() / 1000) - aheadSeconds) <= 5
      await setClock({ clock } as unknown as CheckContext, accepts)
      expect(clock.offsetSeconds, `${aheadSeconds} s ahead`).to.be.closeTo(aheadSeconds, 1)
      expect(clock.measuredBy).to.equal('accepted window')
    }
  })

  it('tells nothing where all is accepted, or nothing', async () => {
    for (const accepted of [true, false]) {
      const clock = createTargetClock()
      await setClock({ clock } as unknown as CheckContext, async () => accepted)
      expect(clock.measuredBy).to.equal(null)
    }
  })
})
