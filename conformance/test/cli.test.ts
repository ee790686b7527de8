import { expect } from 'chai'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../cli.ts'
import type { Report } from '../index.ts'
import { sampleFixture } from './support/sample-fixture.ts'
import { serve } from './support/serve.ts'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command with streams of its own. */
async function check(...args: readonly string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const code = await run(args, {}, { stdout: stream('stdout'), stderr: stream('stderr') })
  return { code, ...written }
}

describe('the command check', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'check-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Answers as a node of chain 5 does; everything else is unknown to it. */
  const nodeOfChain5 = () =>
    serve((_request, response, body) => {
      const { id = null, method } = (body.startsWith('{') ? JSON.parse(body) : {}) as { id?: unknown; method?: string }
      const outcome = method === 'eth_chainId' ? { result: '0x5' } : { error: { code: -32601, message: 'unknown' } }
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    })

  it('ends with 2 and one line when it cannot judge', async () => {
    const fixture = join(folder, 'fixture.json')
    await writeFile(fixture, '{"chain":{}}')
    const cases = [
      ['http://127.0.0.1:1'],
      ['not a URL'],
      ['http://127.0.0.1:1', '--no-such-option'],
      ['http://127.0.0.1:1', '--edition', 'draft'],
      ['http://127.0.0.1:1', '--timeout-ms', 'soon'],
      ['http://127.0.0.1:1', '--fixture', fixture],
      ['http://127.0.0.1:1', '--fixture', join(folder, 'none.json')],
      ['http://127.0.0.1:1', '--only', 'relay.nothing'],
      ['http://127.0.0.1:1', '--no-relay', '--no-eth-rpc'],
      ['http://127.0.0.1:1', '--report', 'pdf=out.pdf'],
      [],
    ]
    for (const args of cases) {
      const { code, stderr } = await check(...args)
      expect(code, args.join(' ')).to.equal(2)
      expect(stderr.trim().split('\n'), stderr).to.have.length(1)
    }
  })

  it('ends with 0 when all that was asked for holds, 1 when not, 3 when it could not be tested', async () => {
    await using server = await nodeOfChain5()
    const { code, stdout } = await check(server.url, '--only', 'eth-rpc.eth_chainId.success', '--rpc-url', server.url)
    expect(code, stdout).to.equal(0)
    expect((await check(server.url, '--only', 'eth-rpc.eth_blockNumber')).code).to.equal(1)
    expect((await check(server.url, '--only', 'relay.quota.unit')).code).to.equal(3)
    // Nothing that is selected is required: nothing was judged.
    expect((await check(server.url, '--only', 'eth-rpc.eth_chainId.result-schema')).code).to.equal(3)
  })

  it('says what a run would do and cost, and sends nothing', async () => {
    await using server = await nodeOfChain5()
    const { code, stdout } = await check(server.url, '--dry-run', '--no-eth-rpc')
    expect(code).to.equal(0)
    expect(stdout).to.match(/^Touchstone checks http.*\d+ checks\)\nThe run sends nothing that spends\.\n$/)
    expect(server.requests).to.deep.equal([])
    const fixture = join(folder, 'fixture.json')
    await writeFile(fixture, JSON.stringify(sampleFixture))
    const costly = await check(server.url, '--dry-run', '--fixture', fixture, '--max-transactions', '10')
    expect(costly.stdout).to.include('The run may cost the relay about 10 relay calls, 1.2 million gas.')
    expect((await check(server.url, '--dry-run', '--fixture', fixture, '--read-only')).stdout).to.include('nothing')
  })

  it('writes reports; one on standard output stands there alone', async () => {
    await using server = await nodeOfChain5()
    const file = join(folder, 'junit.xml')
    const args = ['--only', 'eth-rpc.eth_blockNumber', '--report', 'json=-', '--report', `junit=${file}`]
    const { stdout } = await check(server.url, ...args)
    const report = JSON.parse(stdout) as Report
    expect(report.verdict).to.equal('nonconformant')
    expect(report.target).to.deep.equal({ relayUrl: server.url, ethRpcUrl: server.url })
    expect(await readFile(file, 'utf8')).to.match(/^<\?xml[^]*<testsuite/)
  })

  it('expects the failures that it wrote down, and says when the list is stale', async () => {
    await using server = await nodeOfChain5()
    const file = join(folder, 'expected.yaml')
    const asked = [server.url, '--only', 'eth-rpc.eth_blockNumber']
    expect((await check(...asked, '--write-expected-failures', file)).code).to.equal(0)
    expect(await readFile(file, 'utf8')).to.include('id: eth-rpc.eth_blockNumber.success')
    expect((await check(...asked, '--expected-failures', file)).code).to.equal(0)

    await writeFile(file, '- { id: eth-rpc.eth_chainId.success, reason: was broken }')
    const stale = await check(server.url, '--only', 'eth-rpc.eth_chainId.success', '--expected-failures', file)
    expect(stale.code).to.equal(1)
    expect(stale.stdout).to.include('stale')
  })
})
