import { expect } from 'chai'
import { LARGEST_SPAN, RangeLimit } from '../../../../services/chain/logs/range-limit.ts'

/** Asks a node for its most blocks, so many times. @returns the spans that were asked for */
function ask(limit: RangeLimit, times: number, node: { readonly takes: number; readonly tells?: boolean }): number[] {
  return Array.from({ length: times }, () => {
    const span = limit.blocks
    if (span <= node.takes) limit.served(span)
    else limit.refused(span, node.tells ? node.takes : undefined)
    return span
  })
}

describe('RangeLimit', () => {
  it('begins with the most, and believes the number that a refusal names', () => {
    const limit = new RangeLimit()
    expect(ask(limit, 3, { takes: 2_000, tells: true })).to.deep.equal([LARGEST_SPAN, 2_000, 2_000])
  })

  it('finds a limit that no refusal names to an eighth, and stays there', () => {
    const limit = new RangeLimit()
    const spans = ask(limit, 16, { takes: 3_000 })
    expect(spans.slice(0, 7)).to.deep.equal([100_000, 50_000, 25_000, 12_500, 6_250, 3_125, 1_562])
    expect(limit.blocks).to.be.within(3_000 / 1.125, 3_000)
  })

  it('tries twice as many after some calls, and waits twice as long after that is refused', () => {
    const limit = new RangeLimit()
    const spans = ask(limit, 100, { takes: 2_000, tells: true })
    const tries = spans.flatMap((span, index) => (span === 4_000 ? [index] : []))
    expect(tries).to.deep.equal([17, 50])
    expect(spans[18]).to.equal(2_000)
  })

  it('grows quickly when the node takes more than before', () => {
    const limit = new RangeLimit()
    ask(limit, 17, { takes: 2_000, tells: true })
    ask(limit, 20, { takes: Infinity })
    expect(limit.blocks).to.equal(LARGEST_SPAN)
  })

  it('falls when the node takes less than before, to one block at the least', () => {
    const limit = new RangeLimit()
    ask(limit, 5, { takes: 2_000, tells: true })
    ask(limit, 40, { takes: 1 })
    expect(limit.blocks).to.equal(1)
  })

  it('takes no notice of a refusal that was on its way before the limit was known', () => {
    const limit = new RangeLimit()
    limit.refused(100_000)
    limit.refused(50_000)
    limit.refused(100_000)
    expect(limit.blocks).to.equal(25_000)
  })
})
