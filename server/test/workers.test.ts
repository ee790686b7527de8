import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startPostgres, type PostgresServer } from '../../testbed/postgres.ts'
import { startNode, startServerProcess, type Started } from '../../testbed/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld, rpcBody } from '../../testbed/relay-world.ts'
import { until } from './support/until.ts'

const WORKERS = 2
const CALLERS = 8

describe('superviseWorkers', () => {
  it('replaces a worker that dies while the others start', async () => {
    const script = join(import.meta.dirname, 'fixtures/worker-that-dies.ts')
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [log, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number | null]>])
    expect(code).to.equal(0)
    expect(log).to.include('a worker has ended unasked')
  })
})

describe('serve --workers', () => {
  let postgres: PostgresServer
  let node: Started
  let world: RelayWorld
  let server: Started

  before(async () => {
    ;[postgres, node] = await Promise.all([startPostgres(), startNode('hardhat')])
    world = await provisionWorld(node.url)
    server = await startServerProcess({
      rpcUrl: node.url,
      signerKeys: world.signerKeys,
      databaseUrl: await postgres.createDatabase(),
      workers: WORKERS,
    })
  })
  after(async () => {
    await server?.close()
    await node?.close()
    await postgres?.close()
  })

  const workersOf = async (pid: number) => {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return children.trim().split(' ').filter(Boolean).map(Number)
  }
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  /** Each over a connection of its own, so that all workers get some. */
  const ask = async (): Promise<boolean> => {
    const response = await fetch(`${server.url}/api/eth-rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: rpcBody('eth_chainId', []),
    })
    return response.ok && 'result' in ((await response.json()) as object)
  }
  const metric = async (name: string) => {
    const lines = (await (await fetch(`${server.url}/metrics`)).text()).split('\n')
    return lines.filter((line) => line.startsWith(name)).map((line) => Number(line.split(' ').at(-1)))
  }

  it('counts in /metrics what all of them have answered, and what they share once', async () => {
    const count = async () =>
      (await metric('touchstone_http_requests_total{route="/api/eth-rpc"')).reduce((sum, one) => sum + one, 0)
    const before = await count()
    for (let asked = 0; asked < 3 * WORKERS; asked++) expect(await ask()).to.equal(true)
    // What one has read is kept for half a second.
    await until(async () => (await count()) === before + 3 * WORKERS)
    expect(await metric('touchstone_signer_balance_coins')).to.have.length(world.signers.length)
    const [balance] = await metric('touchstone_signer_balance_coins')
    expect(balance).to.be.lessThan(10_001)
  })

  it('relays calls of a channel in their order, whichever worker gets them', async () => {
    const poster = createPoster(server.url, CALLERS)
    const relay = async (channel: bigint) => {
      for (let id = 0n; id < 5n; id++) {
        const { status, json } = await poster.post('/execute', signedCall(world, channel, id).body)
        expect({ status, json }).to.have.property('status', 200)
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => relay(BigInt(500 + caller))))
    await poster.close()
    expect(await workersOf(server.pid)).to.have.length(WORKERS)
  })

  it('serves on when a worker is killed, and another one takes its place', async () => {
    const [killed = 0, other] = await workersOf(server.pid)
    process.kill(killed, 'SIGKILL')
    await until(async () => {
      const workers = await workersOf(server.pid)
      return workers.length === WORKERS && !workers.includes(killed)
    })
    expect(await workersOf(server.pid)).to.include(other)
    for (let asked = 0; asked < 3 * WORKERS; asked++) expect(await ask()).to.equal(true)
  })

  it('ends with all of them', async () => {
    const workers = await workersOf(server.pid)
    await server.close()
    expect(workers.filter(isAlive)).to.deep.equal([])
  })
})
