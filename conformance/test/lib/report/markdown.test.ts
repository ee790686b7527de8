import { expect } from 'chai'
import { clauses, type ClauseId } from '../../../../specs/index.ts'
import { renderMarkdown } from '../../../lib/report/markdown.ts'
import type { CheckResult } from '../../../lib/report-types.ts'
import { clauseOf, exchange, failed, reportOf, sampleReport } from '../../support/samples.ts'

describe('renderMarkdown', () => {
  const text = renderMarkdown(sampleReport)

  it('begins with the verdict', () => {
    expect(text.split('\n')[0]).to.equal('## ❌ Not conformant: http://127.0.0.1:3000')
  })

  it('keeps markup of the target inside a fence or escaped', () => {
    const outside = text.replace(/^(`{3,})\n[\s\S]*?\n\1$/gm, '')
    expect(outside).to.not.match(/<(?!\/?(?:details|summary)>)/)
    expect(text).to.contain('````\nPOST')
  })

  it('gives each row of a table as many cells as its head', () => {
    const cells = (row: string) => row.replace(/\\\|/g, '').split('|').length
    const tables = text.split('\n\n').filter((block) => block.startsWith('|'))
    expect(tables).to.have.length.greaterThan(4)
    for (const table of tables) {
      const [head = '', ...rows] = table.split('\n')
      for (const row of rows) expect(cells(row), row).to.equal(cells(head))
    }
  })

  it('stays within a step summary when everything fails', () => {
    const long = 'x'.repeat(20_000)
    // Each clause for a cause of its own, since one cause is shown once.
    const checkOf = (id: ClauseId): CheckResult => ({
      ...failed,
      error: { message: long, expected: `${id} ${long}`, actual: long },
      exchanges: [exchange(long, long), exchange(long, long), exchange(long, long)],
    })
    const all = (Object.keys(clauses) as ClauseId[]).map((id) => clauseOf(id, checkOf(id)))
    expect(Buffer.byteLength(renderMarkdown(reportOf(all)))).to.be.lessThan(1024 * 1024)
  })
})
