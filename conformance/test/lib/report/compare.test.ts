import { expect } from 'chai'
import { compareHtml } from '../../../lib/report/html/comparison.ts'
import { compareMarkdown } from '../../../lib/report/markdown.ts'
import { compareTerminal } from '../../../lib/report/terminal.ts'
import { compareReports } from '../../../lib/report/compare.ts'
import { clauseOf, failed, observed, passed, reportOf, untestable } from './sample-report.ts'

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
