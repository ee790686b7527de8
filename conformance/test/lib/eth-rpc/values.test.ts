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
    expect([0, 0n, '0x0'].map(readingsOf)).to.deep.equal([[0n], [0n], [0n]])
    expect(readingsOf(2n ** 53n + 1n)).to.deep.equal([2n ** 53n + 1n])
    expect(readingsOf(`0x${'f'.repeat(64)}`)).to.deep.equal([2n ** 256n - 1n])
  })

  for (const value of [
    '0x',
    '',
    '0xg',
    '-0x1',
    ' 0x1',
    -1,
    -0.5,
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
      expect(readingsOf(value)).to.deep.equal([])
    })
  }

  it('does not guess at a large integer below zero', () => {
    expect(readingsOf(-(2n ** 60n))).to.deep.equal([])
    expect(readingsOf(-1n)).to.deep.equal([])
  })
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

const fields = [
  'nonce',
  'hash',
  'input',
  'to',
  'accessList',
  'value',
  'status',
  'v',
  'topics',
  'contractAddress',
  'type',
]
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

  it('takes the zero address for none where a contract is created, and nowhere else', () => {
    for (const contractAddress of [`0x${'0'.repeat(40)}`, '0'.repeat(40), '', '0x', null, undefined]) {
      expect(compare({ contractAddress: null }, { contractAddress })).not.to.throw()
    }
    for (const contractAddress of ['0x1', 0, {}]) {
      expect(compare({ contractAddress: null }, { contractAddress })).to.throw(Fault, 'contractAddress of it')
    }
    expect(compare({ status: null }, { status: '0x1' })).not.to.throw()
    expect(compare({ status: '0x1' }, { status: null })).not.to.throw()
  })

  it('reads a status in words, and no other field', () => {
    for (const [word, status] of [
      ['SUCCESS', '0x1'],
      ['ok', 1],
      ['reverted', '0x0'],
      ['false', '0x0'],
    ]) {
      expect(compare({ status }, { status: word }), String(word)).not.to.throw()
    }
    for (const word of ['success', 'pending', 'x']) {
      expect(compare({ status: '0x0' }, { status: word }), word).to.throw(Fault, 'status of it')
    }
    expect(compare({ nonce: '0x1' }, { nonce: 'ok' })).to.throw(Fault, 'nonce of it')
  })

  it('compares every element of a list, and the members of objects that both have', () => {
    const [a, b] = ['0x0a', '0x0b']
    expect(compare({ topics: [a, b] }, { topics: ['0x0A', '0B'] })).not.to.throw()
    for (const topics of [[a], [a, b, b], [a, a], [b, b], a, { 0: a, 1: b, length: 2 }]) {
      expect(compare({ topics: [a, b] }, { topics }), JSON.stringify(topics)).to.throw(Fault, 'topics of it')
    }
    // Leading zeros count in topics, and not in numbers.
    expect(compare({ topics: ['0x0a'] }, { topics: ['0xa'] })).to.throw(Fault)
    const accessList = [{ address: a, storageKeys: [b] }]
    expect(compare({ accessList }, { accessList: [{ address: a }] })).not.to.throw()
    expect(compare({ accessList }, { accessList: [{ address: a, storageKeys: ['0xB'], more: 1 }] })).not.to.throw()
    for (const other of [{ address: b }, { address: a, storageKeys: [a] }, a, null]) {
      expect(compare({ accessList }, { accessList: [other] }), JSON.stringify(other)).to.throw(
        Fault,
        'accessList of it',
      )
    }
  })

  it('compares what is no number as text', () => {
    expect(compare({ type: 'legacy' }, { type: 'Legacy' })).not.to.throw()
    expect(compare({ type: 'legacy' }, { type: 'other' })).to.throw(Fault, 'type of it')
    expect(compare({ type: 'legacy' }, { type: 1 })).to.throw(Fault, 'type of it')
  })

  it('counts what it compared, and shows long values in part', () => {
    expect(compare({ nonce: '0x1', to: null, value: '0x1' }, { nonce: 1, to: null, hash: '0x1' })()).to.equal(2)
    expect(compare({ nonce: '0x1' }, { hash: '0x1' })()).to.equal(0)
    const [expected, actual] = ['a', 'b'].map((digit) => `"0x${digit.repeat(297)}`)
    expect(compare({ input: `0x${'a'.repeat(500)}` }, { input: `0x${'b'.repeat(500)}` }))
      .to.throw(Fault)
      .that.includes({ expected, actual })
  })

  it('compares signatures by their parity, however it is counted', () => {
    for (const v of ['0x1', '0x1c', '0x26', 1]) expect(compare({ v: '0xf4f6' }, { v })).not.to.throw()
    expect(compare({ v: '0xf4f6' }, { v: '0x1b' })).to.throw(Fault, 'v of it')
    // 0 and 1, from 27 on, and from 35 on with the chain in it: EIP-2718, Bitcoin's, EIP-155.
    for (const [v, same] of [
      ['0x1b', '0x0'],
      ['0x1c', '0x1'],
      ['0x23', '0x0'],
      ['0x24', '0x1'],
    ] as const) {
      expect(compare({ v: same }, { v })).not.to.throw()
      expect(compare({ v }, { v: same === '0x0' ? '0x1' : '0x0' })).to.throw(Fault, 'v of it')
    }
    for (const v of ['none', {}]) expect(compare({ v: '0x0' }, { v })).to.throw(Fault, 'v of it')
  })

  it('names the field that differs', () => {
    expect(compare({ nonce: '0x1' }, { nonce: '0x2' })).to.throw(Fault, 'nonce of it')
  })

  it('counts leading zeros of bytes', () => {
    expect(compare({ input: '0x01' }, { input: '0x0001' })).to.throw(Fault, 'input of it')
    expect(compare({ input: '0x' }, { input: '0x00' })).to.throw(Fault)
  })
})
