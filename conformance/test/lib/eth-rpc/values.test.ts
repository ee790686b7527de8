import { expect } from 'chai'
import { expectSameFields, numberOf, quantity, readingsOf } from '../../../lib/eth-rpc/values.ts'
import { Fault } from '../../../lib/outcome.ts'

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

const fields = ['nonce', 'hash', 'input', 'to', 'accessList', 'value', 'status', 'v']
const compare = (truth: Record<string, unknown>, found: Record<string, unknown>) => () =>
  expectSameFields('it', fields, truth, found)

describe('expectSameFields', () => {
  it('takes numbers by value and hex in any case', () => {
    expect(compare({ nonce: '0x0f', hash: '0xAB' }, { nonce: 15, hash: '0xab' })).not.to.throw()
    expect(compare({ accessList: [{ address: '0xAB' }] }, { accessList: [{ address: '0xab' }] })).not.to.throw()
  })

  it('takes hex without 0x, decimals, JSON integers of any size and booleans', () => {
    expect(compare({ nonce: '0xf', input: '0xAB' }, { nonce: 'F', input: 'ab' })).not.to.throw()
    expect(compare({ value: '0x20000000000001' }, { value: 2n ** 53n + 1n })).not.to.throw()
    expect(compare({ value: '0x20000000000001' }, { value: '9007199254740993' })).not.to.throw()
    expect(compare({ status: '0x1' }, { status: true })).not.to.throw()
  })

  it('finds a value that went through a double', () => {
    expect(compare({ value: '0x20000000000001' }, { value: '0x20000000000000' })).to.throw(Fault, 'value of it')
  })

  it('does not compare what one of them leaves out, and nothing beside the fields', () => {
    expect(compare({ nonce: '0x1' }, {})).not.to.throw()
    expect(compare({}, { nonce: '0x1' })).not.to.throw()
    expect(compare({ other: 1 }, { other: 2 })).not.to.throw()
  })

  it('takes null for a word where it says something', () => {
    expect(compare({ to: null }, { to: '' })).not.to.throw()
    expect(compare({ to: null }, { to: `0x${'0'.repeat(40)}` })).to.throw(Fault, 'to of it')
    expect(compare({ to: null }, { to: '0x1' })).to.throw(Fault, 'to of it')
    expect(compare({ to: '0x1' }, { to: null })).to.throw(Fault, 'to of it')
    expect(compare({ accessList: [] }, { accessList: null })).not.to.throw()
  })

  it('compares signatures by their parity, however it is counted', () => {
    for (const v of ['0x1', '0x1c', '0x26', 1]) expect(compare({ v: '0xf4f6' }, { v })).not.to.throw()
    expect(compare({ v: '0xf4f6' }, { v: '0x1b' })).to.throw(Fault, 'v of it')
  })

  it('names the field that differs', () => {
    expect(compare({ nonce: '0x1' }, { nonce: '0x2' })).to.throw(Fault, 'nonce of it')
  })

  it('counts leading zeros of bytes', () => {
    expect(compare({ input: '0x01' }, { input: '0x0001' })).to.throw(Fault, 'input of it')
    expect(compare({ input: '0x' }, { input: '0x00' })).to.throw(Fault)
  })
})
