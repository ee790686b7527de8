import { expect } from 'chai'
import { createTargetClock } from '../../lib/target-clock.ts'

describe('the target’s clock', () => {
  /** The Date header of a target whose clock is ahead by this many ms. */
  const dateAt = (ourMs: number, aheadMs: number): string =>
    new Date(Math.floor((ourMs + aheadMs) / 1000) * 1000).toUTCString()
  const begin = Date.UTC(2026, 0, 1)

  it('is ours until a Date header is seen', () => {
    const clock = createTargetClock()
    clock.see(undefined, begin, begin)
    clock.see('yesterday', begin, begin)
    expect(clock.measuredBy).to.equal(null)
    expect(clock.now()).to.be.closeTo(Date.now() / 1000, 1.5)
  })

  it('is known better than the header’s second after several answers', () => {
    const clock = createTargetClock()
    for (let at = begin; at < begin + 5000; at += 130) clock.see(dateAt(at, 7400), at, at + 20)
    expect(clock.offsetSeconds).to.be.closeTo(7.4, 0.15)
    expect(clock.measuredBy).to.equal('date header')
  })

  it('follows a clock that was set', () => {
    const clock = createTargetClock()
    clock.see(dateAt(begin, 0), begin, begin)
    clock.see(dateAt(begin, 60_000), begin, begin)
    expect(clock.offsetSeconds).to.be.closeTo(60, 0.6)
  })
})
