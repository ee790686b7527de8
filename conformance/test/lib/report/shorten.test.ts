import { expect } from 'chai'
import { shorten } from '../../../lib/report/shorten.ts'

describe('shorten', () => {
  it('keeps what fits', () => {
    expect(shorten('12345678', 8)).to.equal('12345678')
  })

  it('keeps head and tail and says what is left out', () => {
    expect(shorten(`${'a'.repeat(50)}${'b'.repeat(50)}`, 8)).to.equal('aaaaaa … 92 characters left out … bb')
  })
})
