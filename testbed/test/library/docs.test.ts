import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const mocha = join(root, 'node_modules/mocha/bin/mocha.js')

describe('docs/testbed.md', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-testbed-docs-'))
    // The sources, under the package's name.
    const entry = join(folder, 'node_modules/touchstone')
    await mkdir(entry, { recursive: true })
    const exported = { './testbed': 'testbed/library/index.ts', './client': 'client/index.ts' }
    const entries = Object.fromEntries(Object.keys(exported).map((path) => [path, `${path}.js`]))
    await writeFile(
      join(entry, 'package.json'),
      JSON.stringify({ name: 'touchstone', type: 'module', exports: entries }),
    )
    for (const [path, source] of Object.entries(exported)) {
      await writeFile(join(entry, `${path}.js`), `export * from '${join(root, source)}'\n`)
    }
    await symlink(join(root, 'node_modules/ethers'), join(folder, 'node_modules/ethers'))
    const config = "export default { test: { globalSetup: './testbed.setup.ts' } }"
    await writeFile(join(folder, 'setup.config.ts'), config)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const page = await readFile(join(root, 'docs/testbed.md'), 'utf8')
    for (const [, name = '', text = ''] of page.matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)) {
      await writeFile(join(folder, name), text)
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  for (const [runner, args, passed] of [
    ['node:test', ['--test', 'relay.node.test.ts'], /^# pass 1$|^ℹ pass 1$/m],
    ['vitest', [vitest, 'run', '--no-color', 'relay.vitest'], /Tests +1 passed/],
    [
      'vitest and one testbed for all files',
      [vitest, 'run', '--no-color', '--config', 'setup.config.ts', 'relay.setup'],
      /Tests +1 passed/,
    ],
    ['mocha', [mocha, '--exit', 'relay.mocha.test.ts'], /1 passing/],
  ] as const) {
    it(`shows a test that passes with ${runner}`, async () => {
      const run = promisify(execFile)(process.execPath, [...args], { cwd: folder })
      // What failed stands in what the runner has written.
      const { stdout, code } = await run.then(
        ({ stdout }) => ({ stdout, code: 0 }),
        (failure: { stdout: string; code: number }) => failure,
      )
      expect(stdout).to.match(passed)
      expect(code).to.equal(0)
    })
  }
})
