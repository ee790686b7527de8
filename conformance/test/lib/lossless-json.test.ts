import { expect } from 'chai'
import { NumberLiteral, numberSources, parseLossless, stringify } from '../../lib/lossless-json.ts'

describe('lossless JSON', () => {
  const nonce = ((2n ** 127n) << 128n) | 7n

  it('writes every digit of a bigint and a literal as it stands', () => {
    expect(stringify({ nonce, half: new NumberLiteral(`${nonce}.5`) })).to.equal(`{"nonce":${nonce},"half":${nonce}.5}`)
  })

  it('reads integers that a number cannot hold as bigints, and others as numbers', () => {
    expect(parseLossless(`[${nonce},1,1.5,"${nonce}"]`)).to.deep.equal([nonce, 1, 1.5, String(nonce)])
  })

  it('hands over the numbers of an object as they are written', () => {
    const text = '{"quota":1e24,"unit":"gas","totalQuota":1.50,"nested":{"quota":7}}'
    expect([...numberSources(text)]).to.deep.equal([
      ['quota', '1e24'],
      ['totalQuota', '1.50'],
    ])
    for (const none of ['', '[1]', '7', '{"quota"']) expect(numberSources(none).size).to.equal(0)
  })
})
