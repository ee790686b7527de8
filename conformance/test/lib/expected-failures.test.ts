import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { applyExpectedFailures, readExpectedFailures, writeExpectedFailures } from '../../lib/expected-failures.ts'
import type { CheckStatus, ClauseResult } from '../../lib/report-types.ts'
import { UsageError } from '../../lib/outcome.ts'

function clause(id: ClauseResult['id'], status: CheckStatus): ClauseResult {
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
    clause('relay.quota.unit', 'failed'),
    clause('relay.quota.window', 'passed'),
    clause('relay.quota.hash', 'untestable'),
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
    const text = writeExpectedFailures([...results, clause('relay.quota.post', 'failed')], before)
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
