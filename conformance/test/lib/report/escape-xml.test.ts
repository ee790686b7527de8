import { expect } from 'chai'
import { escapeXml, escapeXmlAttribute } from '../../../lib/report/escape-xml.ts'

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
