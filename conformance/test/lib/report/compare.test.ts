import { expect } from 'chai'
import type { CheckError, CheckResult } from '../../../lib/report-types.ts'
import { compareReports, groupByCause } from '../../../lib/report/compare.ts'
import { compareHtml, markDiffering } from '../../../lib/report/html/comparison.ts'
import { renderHtml } from '../../../lib/report/html/report.ts'
import { compareMarkdown, renderMarkdown } from '../../../lib/report/markdown.ts'
import { compareTerminal, renderTerminal } from '../../../lib/report/terminal.ts'
import { clauseOf, failed, observed, passed, reportOf, untestable } from '../../support/samples.ts'

const first = reportOf([
  clauseOf('eth-rpc.batch', passed),
  clauseOf('eth-rpc.limits.rate', observed),
  clauseOf('relay.quota.unit', passed),
  clauseOf('relay.quota.window', passed),
  clauseOf('relay.quota.hash', passed),
])
const second = reportOf([
  clauseOf('eth-rpc.batch', failed),
  clauseOf('eth-rpc.limits.rate', { ...observed, observations: ['ratelimit-limit: 100'] }),
  clauseOf('relay.quota.unit', failed),
  clauseOf('relay.quota.window', { ...passed, observations: ['edge at 5 s'] }),
])
const third = reportOf([clauseOf('relay.quota.unit', untestable), clauseOf('relay.quota.window', passed)])
const comparison = compareReports([
  { name: 'one', report: first },
  { name: 'two <b>', report: second },
  { name: 'three', report: third },
])

describe('compare', () => {
  it('puts differences first: required, recommended, unspecified', () => {
    expect(comparison.differences.map(({ id }) => id)).to.deep.equal([
      'relay.quota.unit',
      'eth-rpc.batch',
      'eth-rpc.limits.rate',
    ])
  })

  it('calls a clause the same when only a remark on a passed check differs', () => {
    expect(comparison.same.map(({ id }) => id)).to.deep.equal(['relay.quota.window'])
  })

  it('does not call it a difference when an answer names another address, time or amount', () => {
    const told = (text: string) => reportOf([clauseOf('eth-rpc.limits.rate', { ...observed, observations: [text] })])
    const differences = (one: string, two: string) =>
      compareReports([
        { name: 'one', report: told(one) },
        { name: 'two', report: told(two) },
      ]).differences.length
    const same = [
      ['401 signer 0x3C44CdDdB6a900fa2b585dd2 lacks', '401 signer 0x70997970C51812dc3A010C7d01 lacks'],
      ['quota went from 99876 to 98765, for 1234 gas', 'quota went from 1000000 to 98765, for 98765 gas'],
      ['retry at Sun, 22 Nov 2026 21:16:48 GMT', 'retry at Mon, 23 Nov 2026 01:06:08 GMT'],
      [
        'clock 0.2 s ahead, "id":"5f8ea243-6ef4-45a4-8edc-3de28cff3994"',
        'clock 0.4 s ahead, "id":"00000000-6ef4-45a4-8edc-3de28cff3994"',
      ],
    ] as const
    for (const [one, two] of same) expect(differences(one, two), one).to.equal(0)
    expect(differences('refused with 401', 'refused with 403')).to.equal(1)
    expect(differences('decimal string taken', 'decimal string refused')).to.equal(1)
  })

  it('calls it no difference that a report does not have a clause', () => {
    expect(comparison.incomplete.map(({ id }) => id)).to.deep.equal(['relay.quota.hash'])
  })

  it('says what each report says, and where one does not have the clause', () => {
    const [unit, batch] = comparison.differences
    expect(unit?.cells.map((cell) => cell?.status)).to.deep.equal(['passed', 'failed', 'untestable'])
    expect(unit?.cells[2]?.detail).to.equal('no fixture was given')
    expect(batch?.cells[2]).to.equal(undefined)
  })

  it('renders for terminal, Markdown and HTML, differences before the rest', () => {
    const texts = [compareTerminal(comparison, { colour: false }), compareMarkdown(comparison), compareHtml(comparison)]
    for (const text of texts) {
      const plain = text.replaceAll('<wbr>', '').replaceAll('\\_', '_')
      expect(plain.indexOf('relay.quota.unit')).to.be.greaterThan(0).and.lessThan(plain.indexOf('relay.quota.window'))
      expect(plain).to.contain('no fixture was given')
    }
    expect(texts[2]).to.not.contain('two <b>')
  })
})

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
