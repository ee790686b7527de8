import { expect } from 'chai'
import { badgeRenderers } from '../../../lib/report/badge.ts'
import { clauseOf, passed, reportOf, sampleReport } from './sample-report.ts'

describe('a badge', () => {
  it('says the verdict and the required clauses that passed', () => {
    const shields = JSON.parse(badgeRenderers.shields(sampleReport)) as Record<string, unknown>
    expect(shields).to.include({ schemaVersion: 1, label: 'LSP15 relay', message: 'not conformant, 2 of 5' })
    const good = reportOf([clauseOf('relay.quota.unit', passed)])
    expect(badgeRenderers.svg(good)).to.contain('>conformant, 1 of 1</text>')
    expect(badgeRenderers.shields(good)).to.not.contain(String(shields['color']))
  })

  it('is a picture that asks for nothing, and has a text for who does not see it', () => {
    const svg = badgeRenderers.svg(sampleReport)
    expect(svg).to.match(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*role="img" aria-label="LSP15 relay: not conf/,
    )
    expect(svg.replace('http://www.w3.org/2000/svg', '')).to.not.match(/https?:|href|url\((?!#)/)
  })
})
