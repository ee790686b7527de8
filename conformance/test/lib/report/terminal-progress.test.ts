import { expect } from 'chai'
import { createTerminalProgress } from '../../../lib/report/terminal-progress.ts'
import type { Report } from '../../../lib/report-types.ts'
import { clauseOf, reportOf, sampleReport } from './sample-report.ts'

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
