import { expect } from 'chai'
import { escapeMarkdown } from '../../../lib/report/escape-markdown.ts'

describe('escapeMarkdown', () => {
  it('leaves no markup, table cell, HTML or mention', () => {
    expect(escapeMarkdown('*a* _b_ `c` | [d](e) <b> @f \\')).to.equal(
      '\\*a\\* \\_b\\_ \\`c\\` \\| \\[d\\](e) &lt;b&gt; &#64;f \\\\',
    )
  })

  it('makes one line of several, and no heading or list of it', () => {
    expect(escapeMarkdown('# a\n- b\r\n')).to.equal('\\# a - b')
  })
})
