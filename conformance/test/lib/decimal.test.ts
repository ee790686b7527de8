import { expect } from 'chai'
import { compare, minus, parseDecimal, showDecimal, toNumber, type Decimal } from '../../lib/decimal.ts'

function read(source: string): Decimal {
  const decimal = parseDecimal(source)
  if (!decimal) throw new Error(`${source} is no number`)
  return decimal
}

describe('an exact amount', () => {
  it('keeps every digit, in any notation', () => {
    const amounts = { '1e24': `1${'0'.repeat(24)}`, '1.50': '1.5', '-0.05': '-0.05', '12.5E-3': '0.0125', '7': '7' }
    for (const [source, shown] of Object.entries(amounts)) expect(showDecimal(read(source))).to.equal(shown)
  })

  it('tells apart what a double does not', () => {
    const [a, b] = [read('1000000000000000000000000'), read('999999999999999999999999')]
    expect(compare(a, b)).to.be.above(0)
    expect(showDecimal(minus(a, b))).to.equal('1')
    expect(compare(read('1.0'), read('1'))).to.equal(0)
    expect(toNumber(minus(read('0.3'), read('0.1')))).to.equal(0.2)
  })

  it('is none for words, and for more digits than an amount has', () => {
    for (const source of ['', 'NaN', '0x10', '1e99999', '1'.repeat(2000)])
      expect(parseDecimal(source)).to.equal(undefined)
  })
})
