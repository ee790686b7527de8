import { expect } from 'chai'
import type { NamedLawful } from '../../../conformance/altered/load.ts'
import type { ClauseResult, Report } from '../../../conformance/lib/report-types.ts'
import { type ClauseId, clauses } from '../../../specs/index.ts'
import { judgeLawful, judgeMutant, type LawfulResult, type MutantResult, matrix } from '../../prove/judge.ts'

type Statuses = Readonly<Partial<Record<ClauseId, ClauseResult['status']>>>

/** A report in which these clauses have these statuses. */
function reportWith(statuses: Statuses): Report {
  const results = Object.entries(statuses).map(([id, status]) => ({
    id,
    level: clauses[id as ClauseId].level,
    status,
    tests: [{ title: 't', status, ...(status === 'untestable' ? { reason: 'r' } : { error: { message: 'm' } }) }],
  }))
  return { clauses: results, verdict: 'nonconformant', durationMs: 1 } as unknown as Report
}

describe('the judge of mutants', () => {
  const mutant = { name: 'relay.quota.unit--x', mutant: { clause: 'relay.quota.unit', fault: 'a fault' } } as const
  const judged = (statuses: Statuses, broken: unknown[] = []) =>
    judgeMutant(mutant, { exitCode: 1, report: reportWith(statuses) }, broken)

  it('says that it was caught by its own clause only', () => {
    expect(judged({ 'relay.quota.unit': 'failed', 'relay.quota.post': 'failed' })).to.deep.include({
      caught: true,
      others: ['relay.quota.post'],
      message: 't: m',
    })
    expect(judged({ 'relay.quota.post': 'failed' })).to.deep.include({
      caught: false,
      why: 'the clause is not in the report',
    })
    expect(judged({ 'relay.quota.unit': 'passed' })).to.deep.include({ caught: false, why: 'the clause is passed' })
    expect(judged({ 'relay.quota.unit': 'untestable' })).to.deep.include({ caught: false })
  })

  it('trusts no mutant that failed itself', () => {
    const { caught, why } = judged({ 'relay.quota.unit': 'failed' }, [new Error('oops')])
    expect({ caught, why }).to.deep.equal({ caught: false, why: 'the alteration itself failed: oops' })
  })
})

describe('the judge of lawful servers', () => {
  function judged(statuses: Statuses, more: Partial<NamedLawful['lawful']> = {}, broken: unknown[] = []) {
    const lawful = { id: 'x', clauses: ['relay.quota.unit'], allowedBy: 'a silence', ...more } as const
    const { spared, why, accusations } = judgeLawful(
      { name: 'x', lawful },
      { exitCode: 0, report: reportWith(statuses) },
      broken,
    )
    return { spared, why, accused: accusations.map(({ clause }) => clause) }
  }

  it('spares who passes, and who is only asked', () => {
    const statuses = { 'relay.quota.unit': 'passed', 'relay.quota.errors': 'untestable' } as const
    expect(judged(statuses)).to.deep.equal({ spared: true, why: undefined, accused: [] })
  })

  it('takes a failure for an accusation, and a required clause that was not judged', () => {
    const statuses = {
      'relay.quota.unit': 'failed',
      'relay.quota.post': 'untestable',
      'relay.execute.repeat': 'failed',
    } as const
    expect(judged(statuses)).to.deep.include({
      spared: false,
      accused: ['relay.quota.unit', 'relay.quota.post', 'relay.execute.repeat'],
    })
    expect(judged({ 'relay.execute.repeat': 'untestable' })).to.include({ spared: true })
  })

  it('lets it fail and leave open what it says', () => {
    const statuses = { 'relay.quota.post': 'untestable', 'relay.execute.repeat': 'failed' } as const
    const declared = { mayFail: ['relay.execute.repeat'], untestable: ['relay.quota.post'] } as const
    expect(judged(statuses, declared)).to.include({ spared: true })
    // Not judged is one thing, failed another.
    expect(judged({ 'relay.quota.post': 'failed' }, declared)).to.include({ spared: false })
  })

  it('trusts no run that judged nothing, nor an alteration that failed', () => {
    expect(judged({})).to.include({ spared: false, why: 'nothing was judged' })
    expect(judged({ 'relay.quota.unit': 'passed' }, {}, [new Error('oops')])).to.include({ spared: false })
  })
})

describe('the matrix', () => {
  const caught: MutantResult = {
    name: 'relay.quota.unit--x',
    clause: 'relay.quota.unit',
    fault: 'a fault',
    caught: true,
    others: [],
    durationMs: 1,
  }
  const missed: MutantResult = {
    ...caught,
    name: 'relay.execute.post',
    clause: 'relay.execute.post',
    caught: false,
    why: 'it is passed',
  }
  const lawful: LawfulResult = {
    name: 'differs',
    clauses: ['relay.quota.unit'],
    allowedBy: 'a silence',
    spared: false,
    accusations: [{ clause: 'relay.quota.post', level: 'required', status: 'failed', message: 'm' }],
    durationMs: 1,
  }

  it('shows clauses with their mutants and lawful servers in the order of the documents', () => {
    expect(matrix([caught, missed], [lawful])).to.equal(
      [
        'relay.execute.post (required)',
        '  ✗ a fault — it is passed',
        'relay.quota.unit (required)',
        '  ✓ --x a fault',
        '  ✗ spared: differs — relay.quota.post failed',
        '',
      ].join('\n'),
    )
  })
})
