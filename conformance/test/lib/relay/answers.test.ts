import { expect } from 'chai'
import { wrongHash, wrongSeconds, wrongValue } from '../../../lib/relay/answers.ts'

describe('a wrong value in a message', () => {
  it('says what it looks like', () => {
    expect(wrongSeconds(1_796_083_200_000)).to.equal('1796083200000 — this looks like milliseconds')
    expect(wrongSeconds('2026-12-01T00:00:00Z')).to.include('a string that holds a date')
    expect(wrongValue('12')).to.equal('"12" — a string that holds a number')
    expect(wrongValue('wei')).to.equal('"wei"')
    expect(wrongValue(undefined)).to.equal('absent')
    expect(wrongHash(`0x${'ab'.repeat(31)}`)).to.include('31 bytes, where a hash has 32')
    expect(wrongHash('9'.repeat(77))).to.include('decimal')
    expect(wrongHash('0xzz')).to.include('no hex digits')
  })
})
