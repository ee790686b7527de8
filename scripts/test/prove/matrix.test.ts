import { expect } from 'chai'
import type { LawfulResult, MutantResult } from '../../prove/judge.ts'
import { matrix } from '../../prove/matrix.ts'

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
