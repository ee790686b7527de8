import { expect } from 'chai'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { startNodeProxy, type NodeProxy } from './support/nodes.ts'
import { createRelayClient } from './support/relay-client.ts'
import { until } from './support/until.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

const root = join(import.meta.dirname, '../..')
const SHORT_GRACE_SECONDS = 3
/** What a busy machine may take until the server has answered, or has ended. */
const LONG_SECONDS = 60
/** How long a node hangs: longer than any test waits. */
const HANG_MS = 600_000

interface Served {
  /** npm itself. */
  readonly npm: ChildProcessByStdio<null, Readable, null>
  readonly url: string
  readonly pid: number
  /** Resolves when no process is left that could write to npm's output: npm, its shell and the server itself. */
  readonly gone: Promise<unknown>
}

describe('npm run serve', () => {
  let testbed: Testbed
  let proxy: NodeProxy
  let folder: string
  let served: Served | undefined

  before(async () => {
    testbed = await startTestbed()
    proxy = await startNodeProxy(testbed.rpcUrl)
    folder = await mkdtemp(join(tmpdir(), 'touchstone-npm-run-serve-'))
  })
  after(async () => {
    await proxy.close()
    await testbed.close()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    proxy.delayMs = 0
    delete proxy.delayedMethod
    if (served?.npm.stdout.readableEnded === false) process.kill(served.pid, 'SIGKILL')
    served = undefined
  })

  /** As it is typed. npm leads a process group of its own here, as it does under a terminal. */
  async function serve(graceSeconds: number): Promise<Served> {
    const file = join(folder, 'relay.json')
    const config = {
      listen: { port: 0 },
      chain: { rpcUrls: [proxy.url], confirmations: 0, requestTimeoutMs: HANG_MS },
      database: { folder: null },
      registration: 'open',
      shutdown: { graceSeconds },
    }
    await writeFile(file, JSON.stringify(config))
    const npm = spawn('npm', ['run', 'serve', '--', '--config', file], {
      cwd: root,
      detached: true,
      env: { ...process.env, TOUCHSTONE_SIGNER_KEYS: testbed.chain.accounts[10]?.privateKey ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = once(npm.stdout, 'end')
    let log = ''
    npm.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
    await until(() => log.includes('"listening"'))
    const { pid, url } = JSON.parse(log.split('\n').find((line) => line.includes('"listening"')) ?? '{}') as Served
    return { npm, url, pid, gone }
  }

  const balanceOf = (url: string, address: string) =>
    fetch(`${url}/api/eth-rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] }),
    })

  const callsOf = (method: string) => proxy.calls.get(method) ?? 0

  const ways: readonly [who: string, signal: (served: Served) => void][] = [
    ['npm', ({ npm }) => npm.kill('SIGTERM')],
    // A supervisor that tells every process, and tells again.
    ['the whole group, twice', ({ npm }) => [1, 2].forEach(() => process.kill(-(npm.pid ?? 0), 'SIGTERM'))],
    // Ctrl-C in a terminal.
    ['the whole group by Ctrl-C', ({ npm }) => process.kill(-(npm.pid ?? 0), 'SIGINT')],
  ]
  for (const [who, signal] of ways) {
    it(`answers what is in flight when ${who} is told to stop`, async () => {
      served = await serve(LONG_SECONDS)
      const method = 'eth_getBalance'
      Object.assign(proxy, { delayMs: 1_000, delayedMethod: method })
      const before = callsOf(method)
      const answer = balanceOf(served.url, testbed.fixture.profile.address)
      await until(() => callsOf(method) > before)
      signal(served)
      const response = await answer
      expect(response.status).to.equal(200)
      expect(await response.json()).to.have.property('result')
      await served.gone
    })
  }

  it('stops in the configured time though its node hangs on a transaction', async () => {
    served = await serve(SHORT_GRACE_SECONDS)
    const { chain, profile, controllers } = testbed.fixture
    const options = { url: served.url, chainId: chain.chainId, profile, controller: controllers.full }
    const method = 'eth_sendRawTransaction'
    Object.assign(proxy, { delayMs: HANG_MS, delayedMethod: method })
    await createRelayClient(options).execute()
    await until(() => callsOf(method) > 0)
    const begunMs = performance.now()
    served.npm.kill('SIGTERM')
    await served.gone
    // The node would answer after ten minutes: what ends the wait is the grace.
    expect((performance.now() - begunMs) / 1000).to.be.within(SHORT_GRACE_SECONDS - 0.1, LONG_SECONDS)
  })
})
