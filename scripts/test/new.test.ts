import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyRepository, runIn } from './support/repository-copy.ts'

describe('the command new', () => {
  let copy: string
  const touched: string[] = []

  before(async () => {
    copy = await mkdtemp(join(tmpdir(), 'touchstone-new-'))
    await copyRepository(copy)
    // What is compiled already need not be compiled again.
    await cp(join(import.meta.dirname, '../../dist'), join(copy, 'dist'), { recursive: true }).catch(() => undefined)
  })

  after(() => rm(copy, { recursive: true, force: true }))

  /** What was written and changed, a file each. */
  const linesOf = (stdout: string) => stdout.split('\n').filter((line) => /^(written|changed)/.test(line))
  const node = (...args: string[]) => runIn(copy, process.execPath, args)
  const touchstone = (...args: string[]) => node('scripts/touchstone.ts', ...args)
  const clauseId = 'eth-rpc.eth_feeHistory.result-schema'

  it('writes a method, a relay, a quota model and a suite, and says what is next', async () => {
    const method = await touchstone('new', 'rpc-method', 'eth_feeHistory')
    expect(method.code, method.stderr).to.equal(0)
    expect(linesOf(method.stdout)).to.deep.equal([
      'written  specs/schemas/rpc-method/eth_feeHistory.json',
      'written  server/plugins/rpc-method/eth_feeHistory.ts',
      'written  server/test/plugins/rpc-method/eth_feeHistory.test.ts',
      'written  conformance/suites/rpc-method/eth_feeHistory.conformance.ts',
      'written  conformance/mutants/rpc-method/eth_feeHistory.mutants.ts',
      'written  conformance/lawful/rpc-method/eth_feeHistory.lawful.ts',
      'changed  specs/clauses/eth-rpc.json',
      'changed  specs/openapi.yaml',
      'changed  specs/openrpc.json',
      'changed  specs/generated/openapi.ts',
    ])
    expect(method.stdout).to.include(`npm run prove -- --only ${clauseId}`)
    touched.push(...linesOf(method.stdout))
    for (const args of [
      ['relay', 'lsp26'],
      ['quota', 'daily-calls'],
      ['rpc-method', 'eth_getBlockTransactionCountByNumber', '--params', '["latest"]'],
      ['suite', 'acme'],
    ]) {
      const { code, stdout, stderr } = await touchstone('new', ...args)
      expect(code, stderr).to.equal(0)
      touched.push(...linesOf(stdout))
    }
  })

  it('leaves types and format as they should be', async () => {
    const files = touched.map((line) => line.replace(/^\w+ +/, ''))
    expect(files).to.have.length.above(20)
    for (const [tool, ...args] of [
      ['typescript-native/bin/tsc', '-b'],
      ['oxfmt/bin/oxfmt', '--check', ...files],
    ] as const) {
      const { code, stdout, stderr } = await node(join('node_modules', tool), ...args)
      expect(code, `${tool}: ${stdout}${stderr}`).to.equal(0)
    }
  })

  it('leaves the tests green, its own among them', async () => {
    const { code, stdout } = await node(
      'node_modules/mocha/bin/mocha.js',
      '--no-config',
      '--timeout=60000',
      ...['specs/test/clauses.test.ts', 'specs/test/schemas.test.ts', 'scripts/test/generate.test.ts'],
      ...['conformance/test/suites.test.ts', 'conformance/test/altered/load.test.ts'],
      ...['rpc-method/eth_feeHistory', 'quota/daily-calls'].map((name) => `server/test/plugins/${name}.test.ts`),
    )
    expect(code, stdout).to.equal(0)
    expect(stdout).to.match(/\d+ passing/)
  })

  it('writes a check that passes on the server, fails on its mutant and spares its lawful server', async () => {
    const { code, stdout, stderr } = await touchstone('prove', '--only', clauseId)
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.include('1 of 1 mutants caught by their clause, 1 of 1 lawful servers spared')
  })

  it('writes a suite that passes on the server, and whose mutants are caught', async () => {
    const { code, stdout, stderr } = await touchstone('prove', '--suite', './conformance/extensions/acme.ts')
    expect(code, stdout + stderr).to.equal(0)
    expect(stdout).to.include('2 of 2 mutants caught by their clause, 1 of 1 lawful servers spared')
  })

  it('overwrites nothing', async () => {
    const path = join(copy, 'server/plugins/quota/gas.ts')
    const before = await readFile(path, 'utf8')
    const { code, stderr } = await touchstone('new', 'quota', 'gas')
    expect(code).to.equal(2)
    expect(stderr).to.equal('new: server/plugins/quota/gas.ts is there already: nothing was written\n')
    expect(await readFile(path, 'utf8')).to.equal(before)
  })

  for (const [args, reason] of [
    [['method', 'eth_call'], "'method' is none of rpc-method, relay, quota"],
    [['rpc-method', '../eth_call'], "'../eth_call' is no name of a rpc-method"],
    [['quota', 'Daily'], "'Daily' is no name of a quota"],
    [['quota', 'daily', '--params', '[]'], '--params is for an rpc-method'],
    [['rpc-method', 'eth_call', '--params', '{}'], '--params is no JSON array'],
    [['rpc-method', 'eth_chainId'], 'specs/schemas/rpc-method/eth_chainId.json'],
  ] as const) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await touchstone('new', ...args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.include(reason)
    })
  }
})
