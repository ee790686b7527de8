import { expect } from 'chai'
import { escapeMarkdown, escapeXml, escapeXmlAttribute, visibleControls } from '../../../lib/report/escape.ts'
import { renderJson } from '../../../lib/report/files.ts'
import { renderJunit } from '../../../lib/report/ci.ts'
import { clauseOf, failed, reportOf, sampleReport } from '../../support/samples.ts'

describe('visibleControls', () => {
  it('shows what a terminal would obey', () => {
    expect(visibleControls('a\u001b[2Jb\u0007\u009bc\rd')).to.equal('a\\u001b[2Jb\\u0007\\u009bc\\u000dd')
  })

  it('shows marks that reorder text', () => {
    expect(visibleControls('\u202egnp\u2066')).to.equal('\\u202egnp\\u2066')
  })

  it('keeps line breaks, tabs and other scripts', () => {
    expect(visibleControls('a\r\nb\tcé漢')).to.equal('a\nb\tcé漢')
  })

  it('shows marks that break lines or take no room', () => {
    expect(visibleControls('a\u200bb\u2028c\ufeff')).to.equal('a\\u200bb\\u2028c\\ufeff')
  })

  it('is done in the JSON report, which a parser reads as it was, and in JUnit', () => {
    const message = 'a\u202eb\u009b2Jc\u200bd\\\u007f'
    const report = reportOf([clauseOf('relay.quota.unit', { ...failed, error: { message } })])
    const unsafe = /[\u007f-\u009f\u200b\u202e]/
    expect(renderJson(report))
      .to.contain(String.raw`a\u202eb\u009b2Jc\u200bd\\\u007f`)
      .and.not.match(unsafe)
    expect(JSON.parse(renderJson(report))).to.deep.equal(report)
    expect(renderJunit(report))
      .to.contain(String.raw`a\u202eb\u009b2Jc\u200bd\\u007f`)
      .and.not.match(unsafe)
    expect(renderJunit(sampleReport)).to.not.match(unsafe)
  })
})

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

describe('escapeXml', () => {
  it('escapes markup and the end of a CDATA section', () => {
    expect(escapeXml(`<a b="c" d='e'>&]]>`)).to.equal('&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;]]&gt;')
  })

  it('shows characters that XML cannot hold', () => {
    expect(escapeXml('\u0000\u001b\uffff\ud800x\udc00')).to.equal('\\u0000\\u001b\\uffff\\ud800x\\udc00')
  })

  it('keeps characters beyond the first plane', () => {
    expect(escapeXml('😀')).to.equal('😀')
  })

  it('keeps line breaks in content and writes them as references in attributes', () => {
    expect(escapeXml('a\n\tb\r')).to.equal('a\n\tb&#13;')
    expect(escapeXmlAttribute('a\n\tb\r')).to.equal('a&#10;&#9;b&#13;')
  })
})
