import { expect } from 'chai'
import { markDiffering } from '../../../../lib/report/html/differing-part.ts'

const marked = (...texts: readonly string[]) => markDiffering(texts).map(({ html }) => html)

describe('the part of a text that differs', () => {
  it('is marked in each text, by words', () => {
    expect(marked('HTTP 401 after a while', 'HTTP 403 after a while')).to.deep.equal([
      'HTTP <mark>401</mark> after a while',
      'HTTP <mark>403</mark> after a while',
    ])
    expect(marked('refused by {"code":-32602}', 'refused by {"code":-32000}', 'refused')).to.deep.equal([
      'refused<mark> by {&quot;code&quot;:-32602}</mark>',
      'refused<mark> by {&quot;code&quot;:-32000}</mark>',
      'refused',
    ])
  })

  it('is nothing where texts are equal, and where only one says anything', () => {
    expect(marked('the same', 'the same')).to.deep.equal(['the same', 'the same'])
    expect(marked('alone', '')).to.deep.equal(['alone', ''])
  })

  it('stays in sight in a long text', () => {
    const [long = ''] = marked(
      `${'before '.repeat(900)}60 s${' after'.repeat(900)}`,
      `${'before '.repeat(900)}1 s${' after'.repeat(900)}`,
    )
    expect(long).to.match(/^… /).and.to.include('<mark>60</mark> s').and.to.match(/ …$/)
    expect(long.length).to.be.below(600)
  })

  it('runs nothing that a target answered', () => {
    expect(marked('a <b>', 'a <i>').join()).to.not.match(/<[bi]>/)
  })
})
