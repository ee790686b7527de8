import { expect } from 'chai'
import type { Exchange, Report } from '../../../lib/report-types.ts'
import { renderJunit } from '../../../lib/report/ci.ts'
import { renderHtml } from '../../../lib/report/html/report.ts'
import { renderMarkdown } from '../../../lib/report/markdown.ts'
import { createTerminalProgress } from '../../../lib/report/terminal-progress.ts'
import { renderTerminal, wantsColour } from '../../../lib/report/terminal.ts'
import { clauseOf, failed, passed, reportOf, sampleReport } from '../../support/samples.ts'

const escape = '\u001b'

describe('renderTerminal', () => {
  const text = renderTerminal(sampleReport, { colour: false, width: 100 })

  it('ends with the verdict in one line', () => {
    expect(text.trimEnd().split('\n').at(-1)).to.match(/^Not conformant: http:\/\/127\.0\.0\.1:3000, 2 of 5 required/)
    const good = renderTerminal(reportOf([clauseOf('relay.quota.unit', passed)]), { colour: false })
    expect(good.trimEnd().split('\n').at(-1)).to.match(/^Conformant: .*1 of 1 required clause passed/)
  })

  it('shows a failure with its sentence, what was expected, request and answer', () => {
    const failure = text.slice(text.indexOf('✗ eth-rpc.eth_getLogs.max-1000'), text.indexOf('required  '))
    for (const part of ['never holds more than 1000', 'at most 1000 entries', '"method":"eth_getLogs"', 'HTTP 500']) {
      expect(failure).to.contain(part)
    }
  })

  it('shows the exchange that shows the fault, in each report, and not only the last ones', () => {
    const [exchange] = failed.exchanges
    if (!exchange?.response) throw new Error('the sample has an exchange')
    const response = (body: string) => ({ ...exchange, response: { ...exchange.response, body } }) as Exchange
    const exchanges = [response('{"unit":"wei"}'), ...Array.from({ length: 5 }, () => response('{"fine":true}'))]
    const check = { ...failed, exchanges, error: { message: 'wrong', exchange: 0 } }
    const report = reportOf([clauseOf('relay.quota.unit', check)])
    for (const text of [renderTerminal(report, { colour: false }), renderMarkdown(report), renderJunit(report)]) {
      const plain = text.replaceAll('&quot;', '"')
      expect(plain.indexOf('{"unit":"wei"}')).to.be.greaterThan(0).and.lessThan(plain.indexOf('{"fine":true}'))
    }
    const html = renderHtml(report)
    const card = html.slice(html.indexOf('class="failures"'), html.indexOf('id="clauses"'))
    expect(card).to.contain('&quot;wei&quot;').and.not.contain('fine')
    expect(html).to.contain('<details class="exchange" open>')
  })

  it('names why clauses could not be tested, what was observed and what is known', () => {
    expect(text).to.match(/\? no fixture was given\n\s+eth-rpc\.eth_getLogs\.next-page/)
    const verbose = renderTerminal(sampleReport, { colour: false, width: 100, verbose: true })
    expect(verbose).to.match(/eth-rpc\.limits\.rate\n\s+no header of a rate limit was seen/)
    expect(text).to.contain('--verbose and the reports show them').and.not.contain('no header of a rate limit')
    expect(text).to.contain('known: being repaired (https://example.org/1)')
  })

  it('tells one cause once, under all its clauses', () => {
    const report = reportOf([clauseOf('relay.quota.unit', failed), clauseOf('relay.quota.post', failed)])
    const { message } = failed.error ?? { message: '' }
    const once = renderTerminal(report, { colour: false, width: 400 })
    expect(once.split(message)).to.have.length(2)
    expect(once).to.match(/✗ relay\.quota\.unit[^✗]*✗ relay\.quota\.post/)
  })

  it('obeys no control character of the target', () => {
    expect(text).to.not.contain(escape)
    expect(text).to.contain('\\u001b[31mred')
    const named = { ...failed, title: 'a\u001b[2J', error: { message: 'b\u001b[2J' } }
    const other = renderTerminal(reportOf([clauseOf('relay.quota.unit', named)]), { colour: false })
    expect(other).to.contain('a\\u001b[2J').and.to.contain('b\\u001b[2J').and.not.contain(escape)
  })

  it('colours only when asked', () => {
    expect(renderTerminal(sampleReport, { colour: true })).to.contain(`${escape}[`)
  })
})

describe('wantsColour', () => {
  const tty = { isTTY: true, write: () => true }

  it('is for a terminal whose user has not declined', () => {
    expect(wantsColour(tty, {})).to.equal(true)
    expect(wantsColour(tty, { NO_COLOR: '1' })).to.equal(false)
    expect(wantsColour({ write: () => true }, {})).to.equal(false)
  })
})

function told(report: Report, isTTY: boolean): string[] {
  const writes: string[] = []
  const progress = createTerminalProgress({ isTTY, write: (text: string) => writes.push(text) }, { colour: false })
  const counts = { checks: 9, required: 2, ofRequired: 55, transactions: 0, gas: 0 }
  progress.started?.({ target: report.target, edition: 'documents', ...counts })
  for (const clause of report.clauses) for (const check of clause.tests) progress.checked?.(clause, check)
  progress.finished?.(report)
  return writes
}

describe('createTerminalProgress', () => {
  it('writes one line for each clause under its document', () => {
    const lines = told(sampleReport, false).slice(0, -1).join('').split('\n')
    const documents = lines.filter((line) => /^(eth-rpc|relay): /.test(line))
    expect(documents).to.have.lengthOf(2)
    const marks = lines.filter((line) => line.startsWith('  ')).map((line) => line.slice(2).split('  ')[0])
    expect(marks).to.deep.equal([
      '✓ eth-rpc.eth_chainId.success',
      '✗ eth-rpc.eth_getLogs.max-1000',
      '? eth-rpc.eth_getLogs.next-page',
      '✗ eth-rpc.response.error-codes',
      '· eth-rpc.limits.rate',
      '✗ relay.execute.bad-signature',
      '✓ relay.quota.unit',
    ])
  })

  it('writes a clause when its checks are over, not at the end', () => {
    const writes: string[] = []
    const progress = createTerminalProgress({ write: (text: string) => writes.push(text) }, { colour: false })
    const [first, second] = sampleReport.clauses
    if (!first?.tests[0] || !second?.tests[0]) throw new Error('the sample lacks clauses')
    progress.checked?.(first, first.tests[0])
    expect(writes.join('')).to.not.contain(first.id)
    progress.checked?.(second, second.tests[0])
    expect(writes.join('')).to.contain(first.id).and.not.contain(second.id)
  })

  it('keeps a status line on a terminal and removes it', () => {
    const writes = told(sampleReport, true)
    expect(writes.some((text) => text === '\r\x1b[2K  1/9 eth-rpc.eth_chainId.success')).to.equal(true)
    expect(writes.at(-2)).to.equal('\r\x1b[2K')
    expect(told(sampleReport, false).join('')).to.not.contain('\r')
  })

  it('shows clauses without checks at the end', () => {
    const text = told(reportOf([...sampleReport.clauses, clauseOf('relay.versioning')]), false).join('')
    expect(text).to.contain('  ? relay.versioning\n')
  })
})
