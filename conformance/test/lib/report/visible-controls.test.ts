import { expect } from 'chai'
import { renderJson } from '../../../lib/report/json.ts'
import { renderJunit } from '../../../lib/report/junit.ts'
import { clauseOf, failed, reportOf, sampleReport } from './sample-report.ts'
import { visibleControls } from '../../../lib/report/visible-controls.ts'

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
