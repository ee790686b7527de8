import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { changedTests } from '../changed-tests.ts'

const sources = {
  'core/hash.ts': '',
  'core/digest.ts': "import { hash } from './hash.ts'",
  'core/words.json': '{}',
  'core/worker.ts': '',
  'http/execute.ts': "import type { Digest } from '../core/digest.ts'\nconst start = () => import('../core/late.ts')",
  'core/late.ts':
    "import words from './words.json' with { type: 'json' }\nnew Worker(new URL('./worker.ts', import.meta.url))",
  'plugins/found-by-name.ts': '',
  'test/digest.test.ts': "import '../core/digest.ts'",
  'test/execute.test.ts': "import { execute } from '../http/execute.ts'",
  'test/other.test.ts': '',
}

describe('changedTests', () => {
  let root: string
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'touchstone-changed-'))
    for (const [file, text] of Object.entries(sources)) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), text)
    }
  })
  after(() => rm(root, { recursive: true, force: true }))

  const touched = (...changed: string[]) => changedTests(root, Object.keys(sources), changed)

  it('follows imports of values, types and JSON, late ones, and what is loaded by its URL', async () => {
    const both = { tests: ['test/digest.test.ts', 'test/execute.test.ts'], everything: undefined }
    expect(await touched('core/hash.ts')).to.deep.equal(both)
    const late = { tests: ['test/execute.test.ts'], everything: undefined }
    for (const file of ['core/words.json', 'core/worker.ts', 'http/execute.ts']) {
      expect(await touched(file), file).to.deep.equal(late)
    }
  })

  it('names a test that has changed itself, and nothing where nothing has', async () => {
    expect(await touched('test/other.test.ts')).to.deep.equal({ tests: ['test/other.test.ts'], everything: undefined })
    expect(await touched()).to.deep.equal({ tests: [], everything: undefined })
  })

  it('tells of a file that no import leads to', async () => {
    expect(await touched('core/hash.ts', 'plugins/found-by-name.ts')).to.have.property(
      'everything',
      'plugins/found-by-name.ts',
    )
  })
})
