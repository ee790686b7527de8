import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

const root = join(import.meta.dirname, '../..')
const programs = new Map<string, string>()
for (const page of ['README.md', 'docs/client.md']) {
  const text = await readFile(join(root, page), 'utf8')
  for (const [, name = '', code = ''] of text.matchAll(/^```js (\S+)\n([^]*?)^```$/gm)) programs.set(name, code)
}

/** What the programs print, run as they stand beside a testbed. */
const printed: Readonly<Record<string, RegExp>> = {
  'dapp.mjs': /status: 'executed'[^]*unit: 'gas'/,
  'execute.mjs': /^executed in block \d+n\n\d+n gas left\n$/,
  'order.mjs': /^executed, executed, executed\n$/,
  'refused.mjs': /^it would revert: ERC725X_InsufficientBalance\n$/,
  'provider.mjs': /^true 1\n$/,
}

describe('the programs of README.md and docs/client.md', () => {
  let testbed: Testbed
  let folder: string

  before(async () => {
    // Inside of the repository, so that the packages are found.
    folder = await mkdtemp(join(root, 'node_modules/.docs-'))
    await mkdir(join(folder, '.touchstone'))
    testbed = await startTestbed({ stateDir: join(folder, '.touchstone') })
    // What a wallet puts into a page: here, the node itself.
    const wallet = `globalThis.window = { ethereum: { request: async (call) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, params: [], ...call })
      const answer = await fetch('${testbed.rpcUrl}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return (await answer.json()).result
    } } }`
    // Nor what Node 20 and browsers of 2022 lack. Node 26 itself cannot do without the first.
    const older = `const { withResolvers } = Promise
      Promise.withResolvers = function () {
        if (!new Error().stack.split('\\n')[2].includes('node:')) throw new TypeError('Promise.withResolvers')
        return withResolvers.call(this)
      }
      delete AbortSignal.any
      delete AbortSignal.timeout`
    await writeFile(join(folder, 'environment.mjs'), `${wallet}\n${older}`)
  })
  after(async () => {
    await testbed?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('are all known', () => {
    expect([...programs.keys()]).to.have.members(Object.keys(printed))
  })

  for (const [name, expected] of Object.entries(printed)) {
    it(`${name} works as pasted`, async () => {
      const code = (programs.get(name) ?? '')
        .replace("'touchstone/client'", `'${pathToFileURL(join(root, 'client/index.ts')).href}'`)
        .replace('http://127.0.0.1:3000', testbed.relayUrl)
        .replace('http://127.0.0.1:8545', testbed.rpcUrl)
      await writeFile(join(folder, name), code)
      const args = ['--import', pathToFileURL(join(folder, 'environment.mjs')).href, join(folder, name)]
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
      expect(stdout).to.match(expected)
    })
  }
})
