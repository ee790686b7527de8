import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClauseResult, Report } from '../../conformance/index.ts'
import { judge, type MutantResult } from '../mutants/judge.ts'
import { matrix } from '../mutants/matrix.ts'

/** A report in which these clauses failed, and `relay.quota.window` passed. */
function reportWith(...failed: readonly ClauseResult['id'][]): Report {
  const results = failed.map((id) => ({
    id,
    status: 'failed',
    tests: [{ title: 't', status: 'failed', error: { message: 'm' } }],
  }))
  return {
    clauses: [...results, { id: 'relay.quota.window', status: 'passed', tests: [] }],
    durationMs: 1,
  } as unknown as Report
}

describe('the judge of mutants', () => {
  const mutant = { name: 'relay.quota.unit--x', mutant: { clause: 'relay.quota.unit', fault: 'a fault' } } as const
  const judged = (report: Report, broken: unknown[] = []) => judge(mutant, { exitCode: 1, report }, broken)

  it('says that it was caught by its own clause only', () => {
    expect(judged(reportWith('relay.quota.unit', 'relay.quota.post'))).to.deep.include({
      caught: true,
      others: ['relay.quota.post'],
    })
    expect(judged(reportWith('relay.quota.post'))).to.deep.include({
      caught: false,
      why: 'the clause is not in the report',
    })
    const passed = judge(
      { ...mutant, mutant: { clause: 'relay.quota.window', fault: 'f' } },
      { exitCode: 0, report: reportWith() },
      [],
    )
    expect(passed).to.deep.include({ caught: false, why: 'the clause is passed' })
  })

  it('trusts no mutant that failed itself', () => {
    const { caught, why } = judged(reportWith('relay.quota.unit'), [new Error('oops')])
    expect({ caught, why }).to.deep.equal({ caught: false, why: 'the mutant itself failed: oops' })
  })

  it('shows clauses and their mutants in the order of the documents', () => {
    const one = judged(reportWith('relay.quota.unit'))
    const other: MutantResult = {
      ...one,
      name: 'relay.execute.post',
      clause: 'relay.execute.post',
      caught: false,
      why: 'it is passed',
    }
    expect(matrix([one, other])).to.equal(
      'relay.execute.post (required)\n  ✗ a fault — it is passed\nrelay.quota.unit (required)\n  ✓ --x a fault\n',
    )
  })
})

describe('the command mutants', () => {
  it('finds each of them caught, the unbroken server and the control not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mutants-'))
    try {
      const out = join(folder, 'matrix.json')
      const args = [
        join(import.meta.dirname, '../touchstone.ts'),
        'mutants',
        '--only',
        'relay.quota.unit',
        '--out',
        out,
      ]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(status, `${stdout}${stderr}`).to.equal(0)
      const written = JSON.parse(await readFile(out, 'utf8')) as { faults: string[]; mutants: MutantResult[] }
      expect(written.faults).to.deep.equal([])
      expect(written.mutants.map(({ name, caught }) => [name, caught])).to.deep.equal([
        ['relay.quota.unit--absent', true],
        ['relay.quota.unit--case', true],
        ['relay.quota.unit', true],
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
