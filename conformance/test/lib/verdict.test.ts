import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { UsageError } from '../../lib/outcome.ts'
import type { CheckResult, CheckStatus, ClauseResult, Report } from '../../lib/report-types.ts'
import {
  applyExpectedFailures,
  clauseStatus,
  countByLevel,
  exitCodeOf,
  findCauses,
  readExpectedFailures,
  verdictOf,
  writeExpectedFailures,
} from '../../lib/verdict.ts'

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

function resultOf(id: ClauseResult['id'], status: CheckStatus): ClauseResult {
  const error = status === 'failed' ? { error: { message: `"${id}": broken` } } : {}
  const tests = [{ title: 't', status, durationMs: 0, exchanges: [], ...error }]
  return { id, document: 'relay', level: 'required', section: '2', text: '', status, tests }
}

describe('expected failures', () => {
  const folders: string[] = []

  async function fileWith(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'expected-'))
    folders.push(folder)
    const path = join(folder, 'expected.yaml')
    await writeFile(path, text)
    return path
  }

  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

  const results = [
    resultOf('relay.quota.unit', 'failed'),
    resultOf('relay.quota.window', 'passed'),
    resultOf('relay.quota.hash', 'untestable'),
  ]

  it('marks what failed as expected', () => {
    const { results: marked, stale } = applyExpectedFailures(results, [{ id: 'relay.quota.unit', reason: 'soon' }])
    expect(marked.map(({ known }) => known?.reason)).to.deep.equal(['soon', undefined, undefined])
    expect(stale).to.deep.equal([])
  })

  it('is stale for a clause that passed and for one that does not exist, not for one that nobody judged', () => {
    const entries = ['relay.quota.window', 'relay.quota.nothing', 'relay.quota.hash', 'relay.quota.post']
    const { stale } = applyExpectedFailures(
      results,
      entries.map((id) => ({ id, reason: 'r' })),
    )
    expect(stale.map(({ id }) => id)).to.deep.equal(['relay.quota.window', 'relay.quota.nothing'])
  })

  it('reads back what it writes', async () => {
    const entries = await readExpectedFailures(await fileWith(writeExpectedFailures(results)))
    expect(entries).to.deep.equal([{ id: 'relay.quota.unit', reason: '"relay.quota.unit": broken', link: '' }])
  })

  it('merges into the file that stands there: keeps words and comments, and drops what passed', () => {
    const before = `# ours
- id: relay.quota.unit # a long story
  reason: our unit is wei
  link: https://example.org/1
- { id: relay.quota.window, reason: it was wide }
- { id: relay.quota.hash, reason: nobody could judge it }
`
    const text = writeExpectedFailures([...results, resultOf('relay.quota.post', 'failed')], before)
    expect(text).to.include('# ours').and.to.include('# a long story').and.to.include('reason: our unit is wei')
    expect((parse(text) as { id: string }[]).map(({ id }) => id)).to.deep.equal([
      'relay.quota.unit',
      'relay.quota.hash',
      'relay.quota.post',
    ])
  })

  it('refuses what is no list of entries, and takes an empty file', async () => {
    for (const text of ['a: 1', '- id: x', '- {id: x, reason: ""}', '- [']) {
      const error = await readExpectedFailures(await fileWith(text)).catch((thrown: unknown) => thrown)
      expect(error, text).to.be.instanceOf(UsageError)
    }
    expect(await readExpectedFailures(await fileWith('# nothing\n'))).to.deep.equal([])
  })
})
