import { expect } from 'chai'
import { wrap } from '../../../lib/report/wrap.ts'

describe('wrap', () => {
  it('breaks at spaces within the width and indents each line', () => {
    expect(wrap('one two three\nfour', 9, '  ')).to.equal('  one two\n  three\n  four')
  })

  it('leaves a word that is too long whole', () => {
    expect(wrap('a 0x1234567890 b', 6, '')).to.equal('a\n0x1234567890\nb')
  })
})
