import { expect } from 'chai'
import { wrap } from '../../../lib/report/wrap.ts'

describe('wrap', () => {
  it('breaks at spaces within the width and indents each line', () => {
    expect(wrap('one two six\nfour', 9, '  ')).to.equal('  one two\n  six\n  four')
  })

  it('leaves a word that is too long whole', () => {
    expect(wrap('a 0x1234567890 b', 6, '')).to.equal('a\n0x1234567890\nb')
    expect(wrap('0x1234567890 b', 6, '')).to.equal('0x1234567890\nb')
  })
})
