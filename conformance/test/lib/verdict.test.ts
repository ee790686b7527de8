import { expect } from 'chai'
import type { CheckResult, CheckStatus, ClauseResult, Report } from '../../lib/report-types.ts'
import { clauseStatus, exitCodeOf, findCauses, countByLevel, verdictOf } from '../../lib/verdict.ts'

const check = (status: CheckStatus) => ({ title: 't', status, durationMs: 0, exchanges: [] })

function clause(level: ClauseResult['level'], status: CheckStatus, known = false): ClauseResult {
  const id = 'relay.quota.unit'
  const entry = known ? { known: { id, reason: 'known' } as const } : {}
  return { id, document: 'relay', level, section: '2', text: '', status, tests: [], ...entry }
}

describe('the verdict', () => {
  it('of a clause: failed before untestable before passed', () => {
    expect(clauseStatus([check('passed'), check('untestable'), check('failed')])).to.equal('failed')
    expect(clauseStatus([check('passed'), check('untestable')])).to.equal('untestable')
    expect(clauseStatus([check('passed')])).to.equal('passed')
    expect(clauseStatus([check('observed'), check('untestable')])).to.equal('observed')
    expect(clauseStatus([])).to.equal('untestable')
  })

  it('is decided by required clauses alone', () => {
    expect(verdictOf([clause('required', 'passed'), clause('recommended', 'failed')], false)).to.equal('conformant')
    expect(verdictOf([clause('required', 'failed'), clause('required', 'untestable')], false)).to.equal('nonconformant')
    expect(verdictOf([clause('required', 'untestable')], false)).to.equal('partial')
    expect(verdictOf([], false)).to.equal('partial')
  })

  it('is about the target: a known failure is one, and a part is never the whole', () => {
    expect(verdictOf([clause('required', 'failed', true)], false)).to.equal('nonconformant')
    expect(verdictOf([clause('required', 'passed')], true)).to.equal('passed')
    expect(verdictOf([clause('recommended', 'passed')], true)).to.equal('partial')
  })

  it('has an exit code that is about the run', () => {
    const because: CheckResult = { ...check('untestable'), because: 'relay.quota.unit' }
    const open = { ...clause('required', 'untestable'), tests: [because] }
    const codeOf = (results: readonly ClauseResult[], stale = 0) =>
      exitCodeOf({
        verdict: verdictOf(results, false),
        clauses: results,
        staleExpectedFailures: Array.from({ length: stale }, () => ({ id: 'x', why: 'it passed' })),
      } as unknown as Report)
    expect(codeOf([clause('required', 'passed')])).to.equal(0)
    expect(codeOf([clause('required', 'failed', true)])).to.equal(0)
    expect(codeOf([clause('required', 'failed', true), open])).to.equal(0)
    expect(codeOf([clause('required', 'failed')])).to.equal(1)
    expect(codeOf([clause('required', 'passed')], 3)).to.equal(1)
    expect(codeOf([clause('required', 'untestable')])).to.equal(3)
    expect(codeOf([clause('required', 'failed', true), clause('required', 'untestable')])).to.equal(3)
    expect(codeOf([clause('recommended', 'passed')])).to.equal(3)
    expect(exitCodeOf({ verdict: 'error', clauses: [] } as unknown as Report)).to.equal(2)
  })

  it('names the failures that left others without a judgement', () => {
    const failed = { ...clause('required', 'failed'), id: 'relay.quota.post' } as const
    const left = (id: ClauseResult['id']): ClauseResult => ({
      ...clause('required', 'untestable'),
      id,
      tests: [{ ...check('untestable'), because: 'relay.quota.post' }],
    })
    expect(
      findCauses([failed, left('relay.quota.unit'), clause('required', 'untestable'), left('relay.quota.hash')]),
    ).to.deep.equal([{ clause: 'relay.quota.post', notJudged: ['relay.quota.unit', 'relay.quota.hash'] }])
  })

  it('counts by level', () => {
    const results = [
      clause('required', 'failed', true),
      clause('recommended', 'passed'),
      clause('unspecified', 'observed'),
    ]
    expect(countByLevel(results)).to.deep.equal({
      required: { passed: 0, failed: 1, untestable: 0 },
      recommended: { passed: 1, failed: 0, untestable: 0 },
      unspecified: { observed: 1, untestable: 0 },
    })
  })
})
