import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNodeProxy, type NodeProxy } from './support/nodes.ts'
import { createRelayClient } from './support/relay-client.ts'
import { until } from './support/until.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'

const root = join(import.meta.dirname, '../..')
const START_MS = 60_000
const GRACE_SECONDS = 3

interface Served {
  /** npm itself. */
  readonly npm: ChildProcess
  readonly url: string
  readonly pid: number
  /** Whether the server's own process is gone. */
  isGone(): boolean
}

describe('npm run serve', function () {
  this.timeout(120_000)
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
    if (served && !served.isGone()) process.kill(served.pid, 'SIGKILL')
    served = undefined
  })

  /** As it is typed. npm leads a process group of its own here, as it does under a terminal. */
  async function serve(): Promise<Served> {
    const file = join(folder, 'relay.json')
    const config = {
      listen: { port: 0 },
      chain: { rpcUrls: [proxy.url], confirmations: 0, requestTimeoutMs: 60_000 },
      database: { folder: null },
      registration: 'open',
      shutdown: { graceSeconds: GRACE_SECONDS },
    }
    await writeFile(file, JSON.stringify(config))
    const npm = spawn('npm', ['run', 'serve', '--', '--config', file], {
      cwd: root,
      detached: true,
      env: { ...process.env, TOUCHSTONE_SIGNER_KEYS: testbed.chain.accounts[10]?.privateKey ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let log = ''
    npm.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString()))
    await until(() => log.includes('"listening"'), START_MS)
    const { pid, url } = JSON.parse(log.split('\n').find((line) => line.includes('"listening"')) ?? '{}') as Served
    const isGone = () => {
      try {
        return !process.kill(pid, 0)
      } catch {
        return true
      }
    }
    return { npm, url, pid, isGone }
  }

  const balanceOf = (url: string, address: string) =>
    fetch(`${url}/api/eth-rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] }),
    })

  const calls = () => [...proxy.calls.values()].reduce((sum, count) => sum + count, 0)

  const ways: readonly [who: string, signal: (served: Served) => void][] = [
    ['npm', ({ npm }) => npm.kill('SIGTERM')],
    // A supervisor that tells every process, and tells again.
    ['the whole group, twice', ({ npm }) => [1, 2].forEach(() => process.kill(-(npm.pid ?? 0), 'SIGTERM'))],
    // Ctrl-C in a terminal.
    ['the whole group by Ctrl-C', ({ npm }) => process.kill(-(npm.pid ?? 0), 'SIGINT')],
  ]
  for (const [who, signal] of ways) {
    it(`answers what is in flight when ${who} is told to stop`, async () => {
      served = await serve()
      proxy.delayMs = 1_000
      const before = calls()
      const answer = balanceOf(served.url, testbed.fixture.profile.address)
      await until(() => calls() > before, START_MS)
      signal(served)
      const response = await answer
      expect(response.status).to.equal(200)
      expect(await response.json()).to.have.property('result')
      await until(served.isGone, (GRACE_SECONDS + 4) * 1000)
    })
  }

  it('stops in the configured time though its node hangs on a transaction', async () => {
    served = await serve()
    const { chain, profile, controllers } = testbed.fixture
    const options = { url: served.url, chainId: chain.chainId, profile, controller: controllers.full }
    const method = 'eth_sendRawTransaction'
    Object.assign(proxy, { delayMs: 600_000, delayedMethod: method })
    await createRelayClient(options).execute()
    await until(() => (proxy.calls.get(method) ?? 0) > 0, START_MS)
    const begunMs = performance.now()
    served.npm.kill('SIGTERM')
    await until(served.isGone, 90_000)
    // npm's shell dies of the signal, which is noticed within half a second; the last two are for the database.
    expect((performance.now() - begunMs) / 1000).to.be.within(GRACE_SECONDS - 0.1, GRACE_SECONDS + 4)
  })
})
