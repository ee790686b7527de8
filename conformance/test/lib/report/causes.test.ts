import { expect } from 'chai'
import { groupByCause } from '../../../lib/report/causes.ts'
import { renderHtml } from '../../../lib/report/html.ts'
import { renderMarkdown } from '../../../lib/report/markdown.ts'
import { renderTerminal } from '../../../lib/report/terminal.ts'
import type { CheckError, CheckResult } from '../../../lib/report-types.ts'
import { clauseOf, failed, passed, reportOf } from './sample-report.ts'

const hash = (digit: string): string => `0x${digit.repeat(64)}`
const check = (title: string, error: CheckError): CheckResult => ({ ...failed, title, error })

/** What a relay does that tells a hash for every body. */
const tells = (title: string, digit: string): CheckResult =>
  check(title, { message: `told for ${title}`, expected: 'no hash', actual: `HTTP 200 ${hash(digit)}` })

const one = clauseOf('relay.execute.requires-address', tells('without address', 'a'))
const two = clauseOf('relay.execute.address-hex', tells('a number', 'b'), passed, tells('null', 'c'))
const both = clauseOf(
  'relay.execute.abi-hex',
  tells('an array', 'd'),
  check('a word', { message: 'the target died', expected: 'no hash', actual: 'no answer' }),
)

describe('failures with one cause', () => {
  it('are what was expected and what was there, whatever the hash and the request are', () => {
    const causes = groupByCause([one, both, two])
    expect(causes.map(({ clauses }) => clauses.map(({ id }) => id))).to.deep.equal([[one.id, two.id], [both.id]])
    expect(causes[0]?.failures).to.deep.equal([{ check: one.tests[0], others: ['a number', 'null'] }])
    expect(causes[1]?.failures.map(({ check: { title } }) => title)).to.deep.equal(['an array', 'a word'])
  })

  it('are told apart by their message where a check says neither', () => {
    const said = (message: string) => check('is', { message })
    const ids = ['eth-rpc.eth_chainId.success', 'eth-rpc.eth_gasPrice.success'] as const
    const alike = ids.map((id, index) => clauseOf(id, said(`HTTP 500 after ${index + 2} ms`)))
    expect(groupByCause(alike)).to.have.length(1)
    expect(groupByCause(ids.map((id) => clauseOf(id, said(id))))).to.have.length(2)
  })

  it('are shown once, with all of their clauses and checks, in each report for people', () => {
    const report = reportOf([one, two])
    const terminal = renderTerminal(report, { colour: false })
    expect(terminal.match(/expected {3}no hash/g)).to.have.length(1)
    expect(terminal).to.include('the same in 2 other checks: a number; null')
    for (const { id, text } of [one, two]) {
      expect(terminal).to.include(`✗ ${id}`)
      expect(terminal.replace(/\s+/g, ' ')).to.include(text)
    }
    const markdown = renderMarkdown(report)
    expect(markdown.match(/expected: no hash/g)).to.have.length(1)
    expect(markdown).to.include('the same in 2 other checks: a number; null')
    for (const { id } of [one, two]) expect(markdown).to.include(`#### ${id} (required`)
    const [, list = ''] = /<ul class="failures">(.*?)<\/section>/s.exec(renderHtml(report)) ?? []
    expect(list.match(/<dt>expected<\/dt>/g)).to.have.length(1)
    expect(list).to.include(`href="#${one.id}"`).and.include(`href="#${two.id}"`)
    expect(list).to.include('The same in 2 other checks.')
  })
})
