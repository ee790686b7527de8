import { expect } from 'chai'
import { once } from 'node:events'
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres, type PostgresServer } from '../../testbed/postgres.ts'
import { startNode, startServerProcess, type Started } from '../../testbed/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld, rpcBody } from '../../testbed/relay-world.ts'
import { until } from './support/until.ts'

/** Half of them ask the chain, half relay. */
const CLIENTS = 20
/** Between two requests of a client: clients who pause leave the cores to the other tests. */
const PAUSE_MS = 50
/** Longer than the balancer takes to notice, also on a machine that is busy with other tests. */
const DRAIN_SECONDS = 3

describe('two servers behind a balancer', () => {
  let postgres: PostgresServer
  let node: Started
  let world: RelayWorld
  let balancer: Balancer
  let servers: Started[]
  let databaseUrl: string

  before(async () => {
    ;[postgres, node] = await Promise.all([startPostgres(), startNode('hardhat')])
    world = await provisionWorld(node.url)
    databaseUrl = await postgres.createDatabase()
    balancer = await startBalancer()
    servers = await Promise.all([start(), start()])
    for (const { url } of servers) balancer.add(url)
    await until(() => servers.every(({ url }) => balancer.isReady(url)))
  })
  after(async () => {
    await balancer?.close()
    for (const server of servers ?? []) await server.close()
    await node?.close()
    await postgres?.close()
  })

  const start = () =>
    startServerProcess({
      rpcUrl: node.url,
      signerKeys: world.signerKeys,
      databaseUrl,
      config: { shutdown: { drainSeconds: DRAIN_SECONDS, graceSeconds: 20 } },
    })

  it('are restarted one after the other under load without one failed request', async () => {
    const failures: string[] = []
    const answered = { chain: 0, relay: 0 }
    let isOver = false
    const poster = createPoster(balancer.url, CLIENTS)

    async function post(kind: keyof typeof answered, path: string, body: string): Promise<void> {
      const { status, json } = await poster.post(path, body)
      answered[kind]++
      const isFine = status === 200 && (kind === 'chain' ? 'result' in json : 'transactionHash' in json)
      if (!isFine) failures.push(`${path}: ${status} ${JSON.stringify(json)}`)
    }
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let id = 0; !isOver; id++) {
        if (client % 2 === 0)
          await post('chain', '/api/eth-rpc', rpcBody('eth_getBalance', [world.signers[0], 'latest']))
        else await post('relay', '/execute', signedCall(world, BigInt(1_000 + client), BigInt(id)).body)
        await sleep(PAUSE_MS)
      }
    })

    for (const old of [...servers]) {
      const before = answered.relay
      await old.close()
      balancer.remove(old.url)
      const successor = await start()
      servers[servers.indexOf(old)] = successor
      balancer.add(successor.url)
      await until(() => balancer.isReady(successor.url))
      expect(answered.relay, 'relays meanwhile').to.be.greaterThan(before)
    }
    isOver = true
    await Promise.all(clients)
    await poster.close()

    expect(failures).to.deep.equal([])
    expect(balancer.broken).to.deep.equal([])
    expect(answered.chain).to.be.greaterThan(CLIENTS)
    expect(answered.relay).to.be.greaterThan(CLIENTS)
  })
})

/** What stands in front of several servers, as load balancers do: follows `/readyz`, and keeps connections. */
export interface Balancer {
  readonly url: string
  /** From now on the server is asked whether it is ready; requests go to those that say so, in turn. */
  add(server: string): void
  remove(server: string): void
  isReady(server: string): boolean
  /** Requests whose connection to a server broke: each was answered by 502, since it may have been served. */
  readonly broken: string[]
  close(): Promise<void>
}

const CHECK_MS = 50

export async function startBalancer(): Promise<Balancer> {
  const servers = new Set<string>()
  const ready = new Set<string>()
  const broken: string[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  let turn = 0

  /** What a server cannot do for a moment on a busy machine does not take it out: balancers wait for several of those. */
  async function check(server: string): Promise<void> {
    const { ready: isReady, draining } = await fetch(`${server}/readyz`).then(
      (response) => response.json() as Promise<{ ready: boolean; draining?: true }>,
      () => ({ ready: false, draining: true }),
    )
    if (isReady && servers.has(server)) ready.add(server)
    else if (draining) ready.delete(server)
  }
  let isClosed = false
  /** One look after the other: an earlier one must not be believed after a later one. */
  async function follow(server: string): Promise<void> {
    while (!isClosed && servers.has(server)) {
      await check(server)
      await sleep(CHECK_MS)
    }
    ready.delete(server)
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const able = [...ready]
    const server = able[turn++ % able.length]
    if (server === undefined) return void response.writeHead(503).end('{"code":"NO_SERVER"}')
    const { method, headers } = request
    const forwarded = send(`${server}${request.url}`, { method, headers, agent }, (answer) => {
      // The server's connection ends with the balancer, not with the client.
      const kept = Object.entries(answer.headers).filter(([name]) => name !== 'connection')
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept))
      answer.pipe(response)
    })
    forwarded.on('error', (error) => {
      broken.push(`${request.url} to ${server}: ${error.message}`)
      if (!response.headersSent) response.writeHead(502)
      response.end('{"code":"BROKEN"}')
    })
    request.pipe(forwarded)
  }

  const front = createServer(forward).listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    add: (server) => {
      servers.add(server)
      void follow(server)
    },
    remove: (server) => void servers.delete(server),
    isReady: (server) => ready.has(server),
    broken,
    close: async () => {
      isClosed = true
      front.close()
      front.closeAllConnections()
      agent.destroy()
      await once(front, 'close')
    },
  }
}
