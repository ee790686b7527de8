import { expect } from 'chai'
import { verdictText, verdictTitle } from '../../../lib/report/words.ts'
import { findCauses, verdictOf } from '../../../lib/verdict.ts'
import { clauseOf, failed, passed, reportOf, untestable } from './sample-report.ts'

const known = { id: 'relay.quota.unit', reason: 'soon' } as const
const stale = (count: number) =>
  Array.from({ length: count }, () => ({ id: 'relay.quota.hash', why: 'it is expected to fail and passed' }))

describe('the words for the verdict', () => {
  it('speak of the target: a known failure is one, and a stale entry is none', () => {
    const expected = reportOf([{ ...clauseOf('relay.quota.unit', failed), known }])
    expect(verdictTitle(expected)).to.equal('Not conformant, as expected (1 known failure)')
    const conformant = reportOf([clauseOf('relay.quota.unit', passed)], { staleExpectedFailures: stale(3) })
    expect(verdictTitle(conformant)).to.equal('Conformant; 3 entries are stale')
    const surprised = reportOf([clauseOf('relay.quota.unit', failed)], { staleExpectedFailures: stale(1) })
    expect(verdictTitle(surprised)).to.equal('Not conformant')
    expect(verdictText(surprised)).to.contain('1 of 1 required clause failed, 1 entry is stale')
  })

  it('never take a part for the whole', () => {
    const results = [clauseOf('relay.quota.unit', passed)]
    const part = reportOf(results, {
      verdict: verdictOf(results, true),
      summary: { ...reportOf(results).summary, ofRequired: 55 },
    })
    expect(`${verdictTitle(part)}: ${verdictText(part)}`).to.equal(
      'Passed: 1 of 1 selected required clauses (of 55), at http://127.0.0.1:3000 (4.2 s)',
    )
  })

  it('count the causes', () => {
    const because = { ...untestable, because: 'relay.quota.post' } as const
    const results = [
      clauseOf('relay.quota.post', failed),
      clauseOf('relay.quota.unit', because),
      clauseOf('relay.quota.hash', because),
    ]
    expect(verdictText(reportOf(results, { causes: findCauses(results) }))).to.contain(
      '2 could not be tested, 1 cause, 2 clauses not judged because of it',
    )
  })
})
