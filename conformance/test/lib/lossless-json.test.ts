import { expect } from 'chai'
import { NumberLiteral, parseLossless, stringify } from '../../lib/lossless-json.ts'

describe('lossless JSON', () => {
  const nonce = ((2n ** 127n) << 128n) | 7n

  it('writes every digit of a bigint and a literal as it stands', () => {
    expect(stringify({ nonce, half: new NumberLiteral(`${nonce}.5`) })).to.equal(`{"nonce":${nonce},"half":${nonce}.5}`)
  })

  it('reads integers that a number cannot hold as bigints, and others as numbers', () => {
    expect(parseLossless(`[${nonce},1,1.5,"${nonce}"]`)).to.deep.equal([nonce, 1, 1.5, String(nonce)])
  })
})
