import { expect } from 'chai'
import { startPostgres, type PostgresServer } from '../../testbed/postgres.ts'
import { startNode, startServerProcess, type Started } from '../../testbed/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld, rpcBody } from '../../testbed/relay-world.ts'
import { startBalancer, type Balancer } from './support/balancer.ts'
import { until } from './support/until.ts'

/** Requests in flight at any time: half ask the chain, half relay. */
const IN_FLIGHT = 20
/** Longer than the balancer takes to notice, also on a machine that is busy with other tests. */
const DRAIN_SECONDS = 3
const READY_MS = 30_000

describe('two servers behind a balancer', function () {
  this.timeout(120_000)
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
    await until(() => servers.every(({ url }) => balancer.isReady(url)), READY_MS)
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
    const poster = createPoster(balancer.url, IN_FLIGHT)

    async function post(kind: keyof typeof answered, path: string, body: string): Promise<void> {
      const { status, json } = await poster.post(path, body)
      answered[kind]++
      const isFine = status === 200 && (kind === 'chain' ? 'result' in json : 'transactionHash' in json)
      if (!isFine) failures.push(`${path}: ${status} ${JSON.stringify(json)}`)
    }
    const clients = Array.from({ length: IN_FLIGHT }, async (_, client) => {
      for (let id = 0; !isOver; id++) {
        if (client % 2 === 0)
          await post('chain', '/api/eth-rpc', rpcBody('eth_getBalance', [world.signers[0], 'latest']))
        else await post('relay', '/execute', signedCall(world, BigInt(1_000 + client), BigInt(id)).body)
      }
    })

    for (const old of [...servers]) {
      const before = answered.relay
      await old.close()
      balancer.remove(old.url)
      const successor = await start()
      servers[servers.indexOf(old)] = successor
      balancer.add(successor.url)
      await until(() => balancer.isReady(successor.url), READY_MS)
      expect(answered.relay, 'relays meanwhile').to.be.greaterThan(before)
    }
    isOver = true
    await Promise.all(clients)
    await poster.close()

    expect(failures).to.deep.equal([])
    expect(balancer.broken).to.deep.equal([])
    expect(answered.chain).to.be.greaterThan(IN_FLIGHT)
    expect(answered.relay).to.be.greaterThan(IN_FLIGHT)
  })
})
