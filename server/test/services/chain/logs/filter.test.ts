import { expect } from 'chai'
import type { Log } from '../../../../../specs/index.ts'
import { divide, matcherOf, partsOf, selectionOf, toNodeFilter } from '../../../../services/chain/logs/filter.ts'

const A = (digit: string) => `0x${digit.repeat(40)}`
const T = (digit: string) => `0x${digit.repeat(64)}`
const log = (address: string, ...topics: string[]) => ({ address, topics }) as unknown as Log

describe('a selection of logs', () => {
  it('has one key for all spellings of a filter', () => {
    const spellings = [
      { address: [A('a'), A('b')], topics: [null, [T('c')]] },
      { address: [A('B'), A('a'), A('A')], topics: [[], T('C')] },
    ]
    const [one, other] = spellings.map((filter) => selectionOf(filter))
    expect(other).to.deep.equal(one)
    expect(selectionOf({ topics: [null] }).key).to.not.equal(selectionOf({ topics: [] }).key)
  })

  it('refuses more than 5,000 alternatives, and keeps a short key of fewer', () => {
    const addresses = Array.from({ length: 5_000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    expect(selectionOf({ address: addresses }).key).to.have.length.below(500)
    expect(() => selectionOf({ address: addresses, topics: [T('a')] })).to.throw('5001 addresses and topics')
  })

  it('asks for as many topics as there are positions, wildcards among them', () => {
    const matches = matcherOf(selectionOf({ address: A('a'), topics: [T('1'), null] }))
    expect(matches(log(A('a'), T('1'), T('2')))).to.equal(true)
    expect(matches(log(A('a'), T('1'))), 'one topic').to.equal(false)
    expect(matches(log(A('b'), T('1'), T('2'))), 'another address').to.equal(false)
    expect(matches(log(A('a'), T('2'), T('1'))), 'another topic').to.equal(false)
    expect(matcherOf(selectionOf({}))(log(A('b')))).to.equal(true)
  })

  it('is written as all nodes read it', () => {
    expect(toNodeFilter(selectionOf({ address: [], topics: [null, []] }))).to.deep.equal({})
    expect(toNodeFilter(selectionOf({ address: [A('a')], topics: [null, [T('2'), T('1')], null] }))).to.deep.equal({
      address: A('a'),
      topics: [null, [T('1'), T('2')]],
    })
  })

  it('is divided by address first, then by the longest list of topics, until it cannot be', () => {
    const whole = selectionOf({ address: [A('a'), A('b'), A('c')], topics: [T('1'), [T('2'), T('3')]] })
    const [first, second] = divide(whole) ?? []
    expect([first?.addresses, second?.addresses]).to.deep.equal([[A('a'), A('b')], [A('c')]])
    expect(divide(second ?? whole)?.map(({ topics }) => topics[1])).to.deep.equal([[T('2')], [T('3')]])
    expect(divide(selectionOf({ address: A('a'), topics: [T('1'), null] }))).to.equal(undefined)
  })

  it('goes in parts to a node with short lists, and the parts together find all of it', () => {
    const topics = [...'123456'].map(T)
    const whole = selectionOf({ address: [...'abc'].map(A), topics: [topics] })
    const parts = partsOf(whole, 2)
    expect(parts.map(({ addresses, topics: [list] }) => [addresses, list])).to.deep.equal([
      [[], topics.slice(0, 2)],
      [[], topics.slice(2, 4)],
      [[], topics.slice(4)],
    ])
    expect(partsOf(selectionOf({}), 2)).to.have.length(1)
  })
})
