import { expect } from 'chai'
import { comparePositions, expectSameLogs, inOrder, logsOf, pageOf, positionOf } from '../../../lib/eth-rpc/logs.ts'
import { Fault } from '../../../lib/outcome.ts'

const log = (blockNumber: number, logIndex: number, more: object = {}) => ({
  blockNumber: `0x${blockNumber.toString(16)}`,
  logIndex: `0x${logIndex.toString(16)}`,
  data: '0x01',
  topics: ['0xaa'],
  ...more,
})
const truth = [log(1, 0), log(1, 1), log(2, 0)]

describe('expectSameLogs', () => {
  it('takes the same entries, with topics filled up and members beside', () => {
    expect(() =>
      expectSameLogs(
        truth,
        truth.map((entry) => ({ ...entry, topics: ['0xAA', null], timeStamp: 1 })),
      ),
    ).not.to.throw()
  })

  it('takes them in any order', () => {
    expect(() => expectSameLogs(truth, truth.toReversed())).not.to.throw()
  })

  const wrong: Record<string, readonly Record<string, unknown>[]> = {
    'one missing at the end': truth.slice(0, 2),
    'one missing in between': [log(1, 0), log(2, 0)],
    'one more': [...truth, log(3, 0)],
    'one twice': [log(1, 0), log(1, 0), log(1, 1)],
    'other data': [log(1, 0, { data: '0x02' }), log(1, 1), log(2, 0)],
    'another topic': [log(1, 0, { topics: ['0xab'] }), log(1, 1), log(2, 0)],
    'an entry without a position': [{ data: '0x01' }],
  }
  for (const [name, found] of Object.entries(wrong)) {
    it(`finds ${name}`, () => {
      expect(() => expectSameLogs(truth, found)).to.throw(Fault)
    })
  }
})

describe('a page of entries', () => {
  it('holds those of the end from which it goes', () => {
    const [first, second, third] = truth
    expect(pageOf(truth, [log(1, 0)])).to.deep.equal([first])
    expect(pageOf(truth, [log(1, 1), log(1, 0)])).to.deep.equal([first, second])
    expect(pageOf(truth, [log(2, 0), log(1, 1)])).to.deep.equal([second, third])
  })

  it('holds all of them where it is no shorter, or empty', () => {
    expect(pageOf(truth, truth.toReversed())).to.equal(truth)
    expect(pageOf(truth, [...truth, log(3, 0)])).to.equal(truth)
    expect(pageOf(truth, [])).to.equal(truth)
  })

  it('is put in the order of the chain', () => {
    expect(inOrder(truth.toReversed())).to.deep.equal(truth)
  })
})

describe('positions', () => {
  it('are in order of block, then index', () => {
    const [a, b, c] = truth.map(positionOf)
    if (!a || !b || !c) throw new Error('three are there')
    expect([c, b, a].sort(comparePositions)).to.deep.equal([a, b, c])
    expect(comparePositions(b, b)).to.equal(0)
  })
})

describe('logsOf', () => {
  it('finds no entries in null', () => expect(logsOf(null)).to.deep.equal([]))

  for (const value of [undefined, '0x1', {}, ['0x1'], [null]]) {
    it(`finds no list of entries in ${JSON.stringify(value) ?? 'undefined'}`, () => {
      expect(() => logsOf(value)).to.throw(Fault)
    })
  }
})
