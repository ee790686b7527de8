import { expect } from 'chai'
import { badgeRenderers, renderGithub, renderJunit } from '../../../lib/report/ci.ts'
import { clauseOf, failed, passed, reportOf, sampleReport, untestable } from '../../support/samples.ts'

describe('renderJunit', () => {
  const xml = renderJunit(sampleReport)

  it('counts one case for each check', () => {
    expect(xml).to.contain('<testsuite name="eth-rpc" timestamp="2026-01-01T00:00:00.000" tests="6" failures="2"')
    expect(xml.match(/<testcase /g)).to.have.lengthOf(9)
  })

  it('tells by its type how grave a failure is', () => {
    expect(xml).to.match(/<testcase classname="eth-rpc.eth_getLogs.max-1000"[^>]*>\s*<failure type="required"/)
    expect(xml).to.match(/<testcase classname="eth-rpc.response.error-codes"[^>]*>\s*<failure type="recommended"/)
  })

  it('skips what could not be tested and what fails as expected', () => {
    expect(xml).to.contain('<skipped message="no fixture was given"/>')
    expect(xml).to.contain('<skipped message="known failure, being repaired: the answer holds 2500 entries"/>')
  })

  it('holds sentence, expectation, request and answer of a failure', () => {
    const detail = /<failure type="required"[^>]*>([^<]*)<\/failure>/.exec(xml)?.[1]
    expect(detail).to.contain('never holds more than 1000 log entries').and.to.contain('expected: at most 1000 entries')
    expect(detail).to.contain('eth_getLogs').and.to.contain('HTTP 500').and.to.contain('no answer within 5000 ms')
  })

  it('is not green when the list of expected failures is stale or nothing could be judged', () => {
    expect(xml).to.contain('<testcase classname="expected-failures" name="relay.quota.window"')
    const error = renderJunit(reportOf([], { verdict: 'error', notes: ['the target is not reachable'] }))
    expect(error).to.contain('errors="1"').and.to.contain('<error message="the target is not reachable"/>')
  })

  it('shows a clause without checks as skipped', () => {
    const empty = renderJunit(reportOf([clauseOf('relay.quota.unit')]))
    expect(empty).to.contain('tests="1" failures="0" errors="0" skipped="1"')
  })

  it('counts the sum of all suites', () => {
    const both = reportOf([clauseOf('eth-rpc.batch', passed, failed), clauseOf('relay.quota.unit', untestable)])
    expect(renderJunit(both)).to.contain('<testsuites name="touchstone" tests="3" failures="1" errors="0" skipped="1"')
  })
})

describe('renderGithub', () => {
  it('annotates each failure that is not expected, the required ones first and as errors', () => {
    const heads = renderGithub(sampleReport).match(/^::\w+ title=[^:]*/gm)
    expect(heads).to.deep.equal([
      '::error title=eth-rpc.eth_getLogs.max-1000',
      '::warning title=eth-rpc.response.error-codes',
    ])
    expect(renderGithub(reportOf([clauseOf('relay.quota.unit', passed)]))).to.equal('')
  })

  it('lets no target write a command of its own', () => {
    const error = { message: 'a\r\n::add-mask::b\r::c\u001b[2J 100%0A', expected: '\n::error::d' }
    const text = renderGithub(reportOf([clauseOf('relay.quota.unit', { ...failed, error })]))
    expect(text.trimEnd().split(/[\r\n]/)).to.have.length(1)
    expect(text).to.contain('%0A::add-mask::b').and.to.contain('100%250A').and.not.contain('\u001b')
  })

  it('says why nothing could be judged', () => {
    const report = reportOf([], { verdict: 'error', notes: ['every answer is HTTP 404'] })
    expect(renderGithub(report)).to.match(/^::error title=No judgement::.*every answer is HTTP 404/)
  })
})

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
