import { expect } from 'chai'
import {
  compareDecimals,
  type Decimal,
  minus,
  NumberLiteral,
  numberSources,
  parseDecimal,
  parseLossless,
  showDecimal,
  stringify,
  toNumber,
} from '../../lib/lossless-json.ts'

describe('lossless JSON', () => {
  const nonce = ((2n ** 127n) << 128n) | 7n

  it('writes every digit of a bigint and a literal as it stands', () => {
    expect(stringify({ nonce, half: new NumberLiteral(`${nonce}.5`) })).to.equal(`{"nonce":${nonce},"half":${nonce}.5}`)
  })

  it('reads integers that a number cannot hold as bigints, and others as numbers', () => {
    expect(parseLossless(`[${nonce},1,1.5,"${nonce}"]`)).to.deep.equal([nonce, 1, 1.5, String(nonce)])
    const others = `[1e+22,${nonce}.0,12.0,1e-7]`
    expect(parseLossless(others)).to.deep.equal([1e22, Number(nonce), 12, 1e-7])
    expect(parseLossless(others, 'any')).to.deep.equal([10n ** 22n, nonce, 12, 1e-7])
  })

  it('hands over the numbers of an object as they are written', () => {
    const text = '{"quota":1e24,"unit":"gas","totalQuota":1.50,"nested":{"quota":7}}'
    expect([...numberSources(text)]).to.deep.equal([
      ['quota', '1e24'],
      ['totalQuota', '1.50'],
    ])
    for (const none of ['', '[1]', '7', 'null', '"quota"', '{"quota"', '{"quota":null}'])
      expect(numberSources(none).size).to.equal(0)
  })
})

function read(source: string): Decimal {
  const decimal = parseDecimal(source)
  if (!decimal) throw new Error(`${source} is no number`)
  return decimal
}

describe('an exact amount', () => {
  it('keeps every digit, in any notation', () => {
    const amounts = {
      '1e24': `1${'0'.repeat(24)}`,
      '1.50': '1.5',
      '-0.05': '-0.05',
      '12.5E-3': '0.0125',
      '7': '7',
      '0': '0',
      '-1e2': '-100',
    }
    for (const [source, shown] of Object.entries(amounts)) expect(showDecimal(read(source))).to.equal(shown)
  })

  it('tells apart what a double does not', () => {
    const [a, b] = [read('1000000000000000000000000'), read('999999999999999999999999')]
    expect(compareDecimals(a, b)).to.be.above(0)
    expect(compareDecimals(b, a)).to.be.below(0)
    expect(showDecimal(minus(a, b))).to.equal('1')
    expect(compareDecimals(read('1.0'), read('1'))).to.equal(0)
    expect(toNumber(minus(read('0.3'), read('0.1')))).to.equal(0.2)
  })

  it('is none for words, and for more digits than an amount has', () => {
    for (const source of ['', 'NaN', '0x10', '1e99999', '1e-1001', '1'.repeat(1001), `0.${'1'.repeat(1000)}`]) {
      expect(parseDecimal(source), source).to.equal(undefined)
    }
    for (const source of ['1e1000', '1e-1000', '1'.repeat(1000)])
      expect(parseDecimal(source), source).to.be.an('object')
  })
})
