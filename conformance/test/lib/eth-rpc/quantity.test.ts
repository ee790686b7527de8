import { expect } from 'chai'
import { numberOf, quantity } from '../../../lib/eth-rpc/quantity.ts'

describe('numberOf', () => {
  it('reads hex with 0x in any spelling, and JSON integers', () => {
    expect(numberOf('0x1b4')).to.equal(436n)
    expect(numberOf('0x0001B4')).to.equal(436n)
    expect(numberOf(436)).to.equal(436n)
    expect(numberOf(`0x${'f'.repeat(64)}`)).to.equal(2n ** 256n - 1n)
  })

  for (const value of [
    '436',
    '1b4',
    '0x',
    '0xg',
    '-0x1',
    ' 0x1',
    -1,
    1.5,
    2 ** 60,
    NaN,
    true,
    null,
    undefined,
    {},
    ['0x1'],
  ]) {
    it(`does not guess at ${JSON.stringify(value) ?? 'undefined'}`, () => {
      expect(numberOf(value)).to.equal(undefined)
    })
  }
})

describe('quantity', () => {
  it('writes no leading zeros', () => {
    expect(quantity(0n)).to.equal('0x0')
    expect(quantity(436)).to.equal('0x1b4')
  })
})
