import { expect } from 'chai'
import { refusalOf } from '../../../../services/chain/logs/node-limits.ts'
import { UpstreamRpcError } from '../../../../services/node/upstream.ts'
import { contentTexts, otherTexts, rangeTexts } from '../../../support/provider-texts.ts'

describe('refusalOf', () => {
  const [from, limit] = [25_766_988, 500]
  const errorOf = (thrown: unknown) =>
    new UpstreamRpcError(
      typeof thrown === 'string' ? { code: -32000, message: thrown } : (thrown as { code: number; message: string }),
    )
  const silent = ['one that says nothing', 'one that says it in other words']

  for (const { provider, error } of rangeTexts) {
    if (!error) continue
    it(`tells that it was the number of blocks: ${provider}`, () => {
      const much = { from, to: from + 4999, count: 5000, limit }
      const thrown = errorOf(error(much))
      const refusal = refusalOf(thrown, much)
      if (silent.includes(provider)) return expect(refusal).to.deep.equal({ kind: 'unknown' })
      if (provider === 'one that speaks of results') return expect(refusal).to.deep.equal({ kind: 'content' })
      const isTold = /\b500\b/.test(JSON.stringify([thrown.message, thrown.data])) || /should work/.test(thrown.message)
      return expect(refusal).to.deep.equal({ kind: 'range', ...(isTold && { blocks: limit }) })
    })
  }

  for (const { provider, error } of contentTexts) {
    if (!error) continue
    it(`tells that it was what is in the blocks: ${provider}`, () => {
      const refusal = refusalOf(errorOf(error({ from, to: from + 4999, count: 700, limit })), { from, to: from + 4999 })
      expect(refusal?.kind).to.equal(silent.includes(provider) ? 'unknown' : 'content')
      if (refusal?.blocks !== undefined) expect(refusal.blocks).to.be.within(limit, 1700)
    })
  }

  it('tells that it was the lists of the filter', () => {
    for (const message of [
      'exceed max addresses',
      'exceed max topics',
      'too many addresses',
      'maximum of 5,000 parameters',
    ]) {
      expect(refusalOf(errorOf({ code: -32602, message }), { from: 0, to: 9 }), message).to.deep.equal({ kind: 'list' })
    }
  })

  it('takes numbers for what they are', () => {
    const told = (message: string) => refusalOf(errorOf(message), { from, to: from + 49_999 })?.blocks
    expect(told('eth_getLogs range is too large, max is 10k blocks')).to.equal(10_000)
    expect(told('block range limit is 2K')).to.equal(2_000)
    expect(told('limited to 1.024 blocks')).to.equal(1_024)
    expect(told('block range: the query took 5000 ms and 2000 bytes')).to.equal(undefined)
    expect(told(`block range ${from}`)).to.equal(undefined)
    expect(told('block range of 50000 is too large, at most 60000')).to.equal(undefined)
    expect(told('block range 0x1f3 is too large')).to.equal(undefined)
  })

  for (const [code, message] of otherTexts) {
    it(`knows that less would not help: ${message}`, () => {
      expect(refusalOf(errorOf({ code, message }), { from: 0, to: 9 })).to.equal(undefined)
    })
  }

  it('leaves alone what is no answer of a node', () => {
    expect(refusalOf(new Error('block range'), { from: 0, to: 9 })).to.equal(undefined)
  })
})
