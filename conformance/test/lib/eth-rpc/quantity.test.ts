import { expect } from 'chai'
import { numberOf, quantity, readingsOf } from '../../../lib/eth-rpc/quantity.ts'

describe('readingsOf', () => {
  it('reads hex in any spelling, JSON integers and decimal digits', () => {
    expect(readingsOf('0x1b4')).to.deep.equal([436n])
    expect(readingsOf('0X0001B4')).to.deep.equal([436n])
    expect(readingsOf('1B4')).to.deep.equal([436n])
    expect(readingsOf('436')).to.deep.equal([0x436n, 436n])
    expect(readingsOf(436)).to.deep.equal([436n])
    expect(readingsOf(2n ** 53n + 1n)).to.deep.equal([2n ** 53n + 1n])
    expect(readingsOf(`0x${'f'.repeat(64)}`)).to.deep.equal([2n ** 256n - 1n])
  })

  for (const value of ['0x', '', '0xg', '-0x1', ' 0x1', -1, 1.5, 2 ** 60, NaN, true, null, undefined, {}, ['0x1']]) {
    it(`does not guess at ${JSON.stringify(value) ?? 'undefined'}`, () => {
      expect(readingsOf(value)).to.deep.equal([])
    })
  }
})

describe('numberOf', () => {
  it('takes digits alone for hex, as the keys of a page are', () => {
    expect(numberOf('436')).to.equal(0x436n)
    expect(numberOf('nothing')).to.equal(undefined)
  })
})

describe('quantity', () => {
  it('writes no leading zeros', () => {
    expect(quantity(0n)).to.equal('0x0')
    expect(quantity(436)).to.equal('0x1b4')
  })
})
