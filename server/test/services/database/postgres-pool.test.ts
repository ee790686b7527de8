import { expect } from 'chai'
import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres, type PostgresServer } from '../../../../testbed/postgres.ts'
import type { Answer, RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const PATIENCE_MS = 30_000
/** A second; and some more for the machine, which others use as well. */
const BACK_WITHIN_MS = 1_500

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
  after(async () => {
    await server?.close()
    await chain?.close()
    await postgres?.close()
  })

  interface Caller {
    readonly hashes: string[]
    readonly refusals: Answer[]
    stop(): Promise<void>
  }

  /** Callers that send one call after the other, each until it is taken. */
  function startCallers(count = 4): Caller {
    const [hashes, refusals]: [string[], Answer[]] = [[], []]
    let isOver = false
    const callers = Array.from({ length: count }, async (_, index) => {
      for (let id = 0n; !isOver; id++) {
        const body = client.sign({ channel: channel + BigInt(index), id })
        for (let answer = await client.post(body); ; answer = await client.post(body)) {
          if (answer.status === 200) {
            hashes.push(answer.json.transactionHash ?? '')
            break
          }
          refusals.push(answer)
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

  /** @returns how long it takes from now on until calls are taken again */
  async function backAfterMs({ hashes }: Caller): Promise<number> {
    const [before, startMs] = [hashes.length, performance.now()]
    await until(() => hashes.length > before, PATIENCE_MS)
    return performance.now() - startMs
  }

  function assertRefusedWell(refusals: readonly Answer[]): void {
    for (const { status, json, headers } of refusals) {
      expect([status, json.code], JSON.stringify(json)).to.deep.equal([503, 'UPSTREAM_UNAVAILABLE'])
      expect(Number(headers.get('retry-after'))).to.be.within(1, 5)
    }
  }

  /** Every call that was acknowledged is mined once, and nothing else was sent. */
  async function assertNothingLostOrDoubled(hashes: readonly string[]): Promise<void> {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0, PATIENCE_MS)
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
    it(`does not end the process when it is ${way}; calls are refused with 503, and taken within a second of its return`, async () => {
      const callers = startCallers()
      await until(() => callers.hashes.length > 8, PATIENCE_MS)
      await goAway()
      await until(() => callers.refusals.length > 8, PATIENCE_MS)
      await postgres.start()
      const backMs = await backAfterMs(callers)
      await callers.stop()
      assertRefusedWell(callers.refusals)
      expect(backMs).to.be.lessThan(BACK_WITHIN_MS)
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
      await until(() => callers.hashes.length > before, PATIENCE_MS)
    }
    await operator.end()
    await callers.stop()
    assertRefusedWell(callers.refusals)
    await assertNothingLostOrDoubled(callers.hashes)
  })

  it('does not keep callers waiting for longer than seconds when it stands still', async () => {
    await postgres.pause()
    const startMs = performance.now()
    const answers = await Promise.all([0n, 1n, 2n].map((index) => client.execute({ channel: channel + index })))
    const waitedMs = performance.now() - startMs
    await postgres.resume()
    assertRefusedWell(answers)
    expect(waitedMs).to.be.lessThan(15_000)
    const callers = startCallers()
    expect(await backAfterMs(callers)).to.be.lessThan(BACK_WITHIN_MS)
    await callers.stop()
    await assertNothingLostOrDoubled(callers.hashes)
  })
})
