import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { UsageError } from '../../lib/outcome.ts'
import type { CheckResult, CheckStatus, ClauseResult, Report } from '../../lib/report-types.ts'
import {
  applyExpectedFailures,
  clauseResult,
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

  it('of a clause comes with the sentence of the edition, and with each observation once', () => {
    const defined = { ...clause('required', 'passed'), text: 'as in the documents', editions: { lip: 'as in the LIP' } }
    const suite = { id: defined.id, clause: defined } as unknown as Parameters<typeof clauseResult>[0]
    const seen = (...observations: string[]): CheckResult => ({ ...check('passed'), observations })
    const result = clauseResult(suite, [check('passed'), seen('a', 'b'), seen('b', 'c')], 'documents')
    expect(result).to.include({ text: 'as in the documents', status: 'passed', observation: 'a; b; c' })
    expect(clauseResult(suite, [check('passed')], 'lip'))
      .to.include({ text: 'as in the LIP' })
      .and.not.to.have.property('observation')
    const single = { ...suite, clause: { ...suite.clause, editions: {} } }
    expect(clauseResult(single, [], 'lip')).to.include({ text: 'as in the documents' })
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
    expect(codeOf([clause('required', 'passed'), clause('recommended', 'failed')])).to.equal(0)
    expect(codeOf([clause('required', 'passed'), clause('recommended', 'untestable')])).to.equal(0)
    expect(exitCodeOf({ verdict: 'error', clauses: [] } as unknown as Report)).to.equal(2)
    // An expected failure excuses the checks that it made untestable, and no others.
    const causes = (...tests: CheckResult[]) =>
      codeOf([clause('required', 'failed', true), { ...clause('required', 'untestable'), tests }])
    expect(causes(check('passed'), because)).to.equal(0)
    expect(causes(because, check('untestable'))).to.equal(3)
    expect(causes({ ...because, because: 'relay.quota.post' })).to.equal(3)
  })

  it('has an exit code that is about the suites of others too', () => {
    const codeOf = (documents: readonly ClauseResult[], others: readonly ClauseResult[]) =>
      exitCodeOf({
        verdict: verdictOf(documents, false),
        clauses: documents,
        suites: [{ clauses: others }],
      } as unknown as Report)
    expect(codeOf([], [])).to.equal(3)
    expect(codeOf([], [clause('required', 'passed')])).to.equal(0)
    expect(codeOf([clause('recommended', 'passed')], [clause('required', 'passed')])).to.equal(3)
    expect(codeOf([clause('required', 'passed')], [clause('required', 'failed')])).to.equal(1)
    expect(codeOf([clause('required', 'passed')], [clause('required', 'untestable')])).to.equal(3)
  })

  it('names the failures that left others without a judgement', () => {
    const failed = { ...clause('required', 'failed'), id: 'relay.quota.post' } as const
    const left = (id: ClauseResult['id']): ClauseResult => ({
      ...clause('required', 'untestable'),
      id,
      tests: [{ ...check('untestable'), because: 'relay.quota.post' }],
    })
    // What failed for a reason of its own, and a check that judged, were not left without a judgement.
    const also = { ...left('relay.quota.window'), status: 'failed' } as const
    const judged = {
      ...left('relay.execute.post'),
      tests: [{ ...check('passed'), because: 'relay.quota.post' }, check('untestable')],
    }
    expect(findCauses([failed, left('relay.quota.unit'), also, judged, left('relay.quota.hash')])).to.deep.equal([
      { clause: 'relay.quota.post', notJudged: ['relay.quota.unit', 'relay.quota.hash'] },
    ])
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

  it('marks nothing that did not fail', () => {
    const id = 'relay.quota.window'
    const { results: marked } = applyExpectedFailures(results, [{ id, reason: 'it was wide' }])
    expect(marked).to.deep.equal(results)
    expect(applyExpectedFailures([resultOf(id, 'observed')], [{ id, reason: 'it was wide' }]).stale).to.deep.equal([
      { id, why: 'it is expected to fail and observed' },
    ])
    // A clause of a suite of others is none of the documents.
    const others = { ...resultOf(id, 'failed'), id: 'ours.one' as ClauseResult['id'] }
    expect(applyExpectedFailures([others], [{ id: 'ours.one', reason: 'soon' }]).stale).to.deep.equal([])
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
    const written = writeExpectedFailures(results)
    expect(written).to.match(/^# Clauses that are known to fail: /)
    const entries = await readExpectedFailures(await fileWith(written))
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

  it('merges into a file that holds no list, an empty one, and what is no entry', () => {
    const entry = '- id: relay.quota.unit\n  reason: \'"relay.quota.unit": broken\'\n  link: ""\n'
    for (const before of ['', '[]\n', '- { id: relay.quota.window, reason: r }\n']) {
      expect(writeExpectedFailures([...results, resultOf('relay.quota.window', 'observed')], before)).to.equal(entry)
    }
    expect(writeExpectedFailures(results, '- just a word\n')).to.equal(`- just a word\n${entry}`)
  })

  it('tell which file and which entry is wrong', async () => {
    const saidOf = (path: string) => readExpectedFailures(path).catch((error: Error) => error.message)
    expect(await saidOf('/nowhere/expected.yaml'))
      .to.include('/nowhere/expected.yaml')
      .and.to.include('(ENOENT)')
    const unread = await fileWith('- [')
    expect(await saidOf(unread)).to.match(/expected\.yaml cannot be read \(.*at line 1/)
    const second = await fileWith('- { id: a, reason: r, link: l }\n- { id: b }\n')
    expect(await saidOf(second)).to.include('entry 2 needs an id and a reason')
  })

  it('refuses what is no list of entries, and takes an empty file', async () => {
    for (const text of [
      'a: 1',
      '- id: x',
      '- {id: x, reason: ""}',
      '- {id: x, reason: 1}',
      '- {id: 1, reason: r}',
      '- {id: x, reason: r, link: 1}',
      '-',
      '- [',
    ]) {
      const error = await readExpectedFailures(await fileWith(text)).catch((thrown: unknown) => thrown)
      expect(error, text).to.be.instanceOf(UsageError)
    }
    expect(await readExpectedFailures(await fileWith('# nothing\n'))).to.deep.equal([])
  })
})
