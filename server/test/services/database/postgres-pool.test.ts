import { expect } from 'chai'
import pg from 'pg'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseAwayError, openPool } from '../../../services/database/postgres-pool.ts'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import { lasting } from '../../support/lasting.ts'
import type { Answer, RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const CALLERS = 4
/** On a machine with nothing else to do, so many calls take about a second. */
const BACK_WITHIN_CALLS = 40

describe('a PostgreSQL server that goes away', () => {
  let postgres: PostgresServer
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient
  let url: string
  let channel = 0n

  before(async () => {
    postgres = await startPostgres()
    chain = await startRelayChain('hardhat', 2)
    url = await postgres.createDatabase()
    server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys, databaseUrl: url })
    client = chain.client(server.url)
  })
  beforeEach(() => (channel += 100n))
  // One hook each: the report names what does not close.
  after(() => server?.close())
  after(() => chain?.close())
  after(() => postgres?.close())

  interface Refusal extends Answer {
    readonly sentMs: number
  }

  interface Callers {
    readonly hashes: string[]
    readonly refusals: Refusal[]
    stop(): Promise<void>
  }

  /** Callers that send one call after the other, each until it is taken. */
  function startCallers(): Callers {
    const [hashes, refusals]: [string[], Refusal[]] = [[], []]
    let isOver = false
    const callers = Array.from({ length: CALLERS }, async (_, index) => {
      for (let id = 0n; !isOver; id++) {
        const body = client.sign({ channel: channel + BigInt(index), id })
        for (;;) {
          const sentMs = performance.now()
          const answer = await client.post(body)
          if (answer.status === 200) {
            hashes.push(answer.json.transactionHash ?? '')
            break
          }
          refusals.push({ ...answer, sentMs })
          await sleep(20)
        }
      }
    })
    const stop = async () => {
      isOver = true
      await Promise.all(callers)
    }
    return { hashes, refusals, stop }
  }

  /** Calls are taken again from now on, at the second try at the latest, and soon by the measure of the calls after them. */
  async function assertBack({ hashes, refusals }: Callers): Promise<void> {
    const [before, startMs] = [hashes.length, performance.now()]
    await until(() => hashes.length > before)
    const [taken, backMs] = [hashes.length, performance.now() - startMs]
    const rounds = 5
    await until(() => hashes.length >= taken + rounds * CALLERS)
    const callMs = (performance.now() - startMs - backMs) / rounds
    expect(refusals.filter(({ sentMs }) => sentMs > startMs)).to.have.length.at.most(CALLERS)
    expect(backMs / callMs).to.be.lessThan(BACK_WITHIN_CALLS)
  }

  function assertRefusedWell(refusals: readonly Answer[]): void {
    for (const { status, json, headers } of refusals) {
      expect([status, json.code], JSON.stringify(json)).to.deep.equal([503, 'UPSTREAM_UNAVAILABLE'])
      expect(Number(headers.get('retry-after'))).to.be.within(1, 5)
    }
  }

  /** Every call that was acknowledged is mined once, and nothing else was sent. */
  async function assertNothingLostOrDoubled(hashes: readonly string[]): Promise<void> {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    for (const hash of hashes) expect((await client.status(hash)).json['status'], hash).to.equal('succeeded')
    const counts = await server.services.relays.countSince(0)
    const nonces = await Promise.all(
      chain.signers.map((signer) => chain.node.request<string>('eth_getTransactionCount', signer, 'latest')),
    )
    expect(counts).to.include({ reverted: 0, abandoned: 0 })
    expect(nonces.reduce((sum, nonce) => sum + Number(nonce), 0)).to.equal(counts.succeeded)
  }

  for (const [way, goAway] of [
    ['stopped', () => postgres.stop()],
    ['killed', () => postgres.kill()],
  ] as const) {
    it(`does not end the process when it is ${way}; calls are refused with 503, and taken as soon as it is back`, async () => {
      const callers = startCallers()
      await until(() => callers.hashes.length > 8)
      await goAway()
      await until(() => callers.refusals.length > 8)
      await postgres.start()
      await assertBack(callers)
      await callers.stop()
      assertRefusedWell(callers.refusals)
      await assertNothingLostOrDoubled(callers.hashes)
    })
  }

  it('does not end the process when it ends sessions, idle or at work', async () => {
    const callers = startCallers()
    const operator = new pg.Client({ connectionString: url })
    await operator.connect()
    for (let round = 0; round < 10; round++) {
      const before = callers.hashes.length
      await operator.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      )
      await until(() => callers.hashes.length > before)
    }
    await operator.end()
    await callers.stop()
    assertRefusedWell(callers.refusals)
    await assertNothingLostOrDoubled(callers.hashes)
  })

  it('does not keep callers waiting for longer than seconds when it stands still', async () => {
    await postgres.pause()
    const answers = await lasting([0, 15_000], () =>
      Promise.all([0n, 1n, 2n].map((index) => client.execute({ channel: channel + index }))),
    )
    await postgres.resume()
    assertRefusedWell(answers)
    const callers = startCallers()
    await assertBack(callers)
    await callers.stop()
    await assertNothingLostOrDoubled(callers.hashes)
  })

  it('is asked by new sessions when those from before may not write', async () => {
    const name = new URL(url).pathname.slice(1)
    const operator = new pg.Client({ connectionString: url })
    await operator.connect()
    // As after a failover: sessions that lead to the former primary stay open, and read on.
    await operator.query(`alter database ${name} set default_transaction_read_only = on`)
    await operator.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    const callers = startCallers()
    await until(() => callers.refusals.length > 8)
    await operator.query(`alter database ${name} reset default_transaction_read_only`)
    await operator.end()
    await assertBack(callers)
    await callers.stop()
    assertRefusedWell(callers.refusals)
    await assertNothingLostOrDoubled(callers.hashes)
  })

  it('gives up a query behind one whose answer broke off', async () => {
    const proxy = await startBreakingProxy(url)
    const pool = await openPool({ url: proxy.url, max: 1, name: 'test', timeoutMs: 2_000 })
    const client = await pool.connect()
    proxy.breakOff()
    const outcomes = await Promise.allSettled([client.query('select 1/0'), client.query('select 1')])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect((outcomes[1] as PromiseRejectedResult).reason).to.be.instanceOf(DatabaseAwayError)
    client.release()
    await pool.end()
    proxy.close()
  })
})

/** Lies between a pool and its server. After `breakOff` the next error arrives without what ends its answer, and nothing after it. */
async function startBreakingProxy(url: string) {
  const target = new URL(url)
  let isBreaking = false
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect(Number(target.port), target.hostname)
    client.pipe(server)
    client.on('error', () => server.destroy())
    client.on('close', () => server.destroy())
    server.on('data', (data) => {
      const endsAnswer = data.at(-READY_FOR_QUERY.length) === READY_FOR_QUERY[0]
      client.write(isBreaking && endsAnswer ? data.subarray(0, -READY_FOR_QUERY.length) : data)
      if (isBreaking) server.removeAllListeners('data').pause()
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    breakOff: () => (isBreaking = true),
    close: () => proxy.close(),
  }
}

/** The message with which the server ends its answer to a query outside of a transaction. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05I')
