import { expect } from 'chai'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { parseConfigFileTextToJson } from 'typescript'
import { runIn } from './support/repository-copy.ts'

const root = join(import.meta.dirname, '../..')

describe('the walls between the projects', () => {
  /** The projects that the compiler lets each project import. */
  async function references(): Promise<Readonly<Record<string, readonly string[]>>> {
    const read = async (folder: string) => {
      const { config } = parseConfigFileTextToJson('', await readFile(join(root, folder, 'tsconfig.json'), 'utf8')) as {
        config: { references: { path: string }[] }
      }
      return config.references.map(({ path }) => normalize(join(folder, path)))
    }
    const projects = await read('')
    return Object.fromEntries(await Promise.all(projects.map(async (name) => [name, await read(name)] as const)))
  }

  it('let nobody import the commands but their own tests', async () => {
    const importers = Object.entries(await references()).filter(([, names]) => names.includes('scripts'))
    expect(importers.map(([name]) => name)).to.deep.equal(['scripts/test'])
  })

  it('let what is published import no tests, and the suite the documents alone', async () => {
    const published = Object.entries(await references()).filter(([name]) => !name.endsWith('/test'))
    expect(published.flatMap(([, names]) => names).filter((name) => name.endsWith('/test'))).to.deep.equal([])
    expect(Object.fromEntries(published)).to.deep.include({ specs: [], server: ['specs'], conformance: ['specs'] })
  })
})

describe('the walls between the rooms', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-walls-'))
    // Types are not needed for this, and there are none.
    const config = (await readFile(join(root, '.oxlintrc.json'), 'utf8')).replace(
      '"typeAware": true',
      '"typeAware": false',
    )
    await writeFile(join(folder, '.oxlintrc.json'), config)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** What the linter says of files that hold these imports, by the room of the file. */
  async function lint(imports: Readonly<Record<string, string>>): Promise<string> {
    for (const [file, imported] of Object.entries(imports)) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), `import type { Thing } from '${imported}'\n\nexport type Other = Thing\n`)
    }
    const { stdout } = await runIn(folder, process.execPath, [join(root, 'node_modules/oxlint/bin/oxlint')])
    return stdout
  }

  for (const [file, imported] of [
    ['server/core/some.ts', '../http/route.ts'],
    ['server/core/some.ts', '../services/clock.ts'],
    ['server/ethereum/some.ts', '../core/errors.ts'],
    ['server/concurrency/some.ts', '../services/clock.ts'],
    ['server/config/some.ts', '../services/clock.ts'],
    ['server/services/node/some.ts', '../../http/route.ts'],
    ['server/services/ledger/some.ts', '../../telemetry/metrics.ts'],
    ['server/services/some.ts', '../compose.ts'],
    ['server/telemetry/some.ts', '../start.ts'],
    ['server/http/some.ts', '../app.ts'],
    ['server/plugins/relay/some.ts', '../../compose.ts'],
    ['client/some.ts', '../server/http/route.ts'],
    ['client/some.ts', '../conformance/index.ts'],
    ['client/some.ts', 'node:fs'],
    ['client/try/some.ts', '../../scripts/up.ts'],
  ] as const) {
    it(`${file} does not import ${imported}`, async () => {
      expect(await lint({ [file]: imported })).to.include('no-restricted-imports')
    })
  }

  it('are open where they should be', async () => {
    const said = await lint({
      'server/core/some.ts': '../../specs/index.ts',
      'server/config/some.ts': '../core/validate.ts',
      'server/services/node/some.ts': '../../ethereum/quantity.ts',
      'server/telemetry/some.ts': '../services/clock.ts',
      'server/http/some.ts': '../services/clock.ts',
      'server/start.ts': './http/route.ts',
      'client/some.ts': '../specs/index.ts',
      'client/try/some.ts': '../index.ts',
      'client/test/some.ts': '../../scripts/testbed.ts',
    })
    expect(said).to.include('on 9 files').and.not.include('no-restricted-imports')
  })

  it('let the client have types of specs, and no data', async () => {
    await mkdir(join(folder, 'client'))
    await writeFile(
      join(folder, 'client/some.ts'),
      "import { clauses } from '../specs/index.ts'\n\nexport default clauses\n",
    )
    expect(await lint({})).to.include('no-restricted-imports')
  })

  it('let no two files import each other, not even a type', async () => {
    const circle = { 'server/services/one.ts': './other.ts', 'server/services/other.ts': './one.ts' }
    expect(await lint(circle)).to.include('no-cycle')
  })
})
