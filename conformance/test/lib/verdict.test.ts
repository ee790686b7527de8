import { expect } from 'chai'
import type { CheckStatus, ClauseResult } from '../../lib/report-types.ts'
import { clauseStatus, summarise, verdictOf } from '../../lib/verdict.ts'

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

  it('takes a known failure, and no stale list', () => {
    expect(verdictOf([clause('required', 'failed', true)], false)).to.equal('conformant')
    expect(verdictOf([clause('required', 'passed')], true)).to.equal('nonconformant')
  })

  it('counts by level', () => {
    const results = [
      clause('required', 'failed', true),
      clause('recommended', 'passed'),
      clause('unspecified', 'observed'),
    ]
    expect(summarise(results)).to.deep.equal({
      required: { passed: 0, failed: 1, untestable: 0 },
      recommended: { passed: 1, failed: 0, untestable: 0 },
      unspecified: { observed: 1, untestable: 0 },
    })
  })
})
