import { expect } from 'chai'
import { compareHtml } from '../../../lib/report/compare-html.ts'
import { compareMarkdown } from '../../../lib/report/compare-markdown.ts'
import { compareTerminal } from '../../../lib/report/compare-terminal.ts'
import { compare } from '../../../lib/report/compare.ts'
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
const comparison = compare([
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
