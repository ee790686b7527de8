import { expect } from 'chai'
import { sql } from 'kysely'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { toServiceError } from '../../http/errors.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import type { Answer, RelayClient } from '../support/relay-client.ts'
import { startRelayServer, type RelayServer } from '../support/relay-server.ts'

interface Call {
  readonly id: unknown
  readonly method: string
}

describe('what is not our fault', () => {
  let chain: RelayChain
  let node: Server
  let server: RelayServer
  let client: RelayClient
  /** What the node says in place of its result. */
  let mangled: ReadonlyMap<string, object>

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    mangled = new Map()
    node = createServer((request, response) => {
      void (async () => {
        const body = await text(request)
        const calls = [JSON.parse(body) as Call | Call[]].flat()
        const answer = await fetch(chain.node.rpcUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(calls),
        })
        const answers = (await answer.json()) as object[]
        const said = calls.map(({ id, method }, index) =>
          mangled.has(method) ? { jsonrpc: '2.0', id, ...mangled.get(method) } : answers[index],
        )
        response.end(JSON.stringify(body.startsWith('[') ? said : said[0]))
      })().catch(() => response.destroy())
    }).listen(0, '127.0.0.1')
    await once(node, 'listening')
    const rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    server = await startRelayServer({ rpcUrl, signerKeys: chain.signerKeys })
    client = chain.client(server.url)
  })
  after(async () => {
    await server.close()
    node.closeAllConnections()
    node.close()
    await chain.close()
  })
  afterEach(() => {
    mangled = new Map()
  })

  function assertUnavailable({ status, headers, json }: Answer, what: string): void {
    expect(status, `${what}: ${JSON.stringify(json)}`).to.equal(503)
    expect(json.code).to.equal('UPSTREAM_UNAVAILABLE')
    expect(json.broadcast).to.equal(false)
    expect(Number(headers.get('retry-after')), what).to.be.at.least(1)
  }

  const nonsense: readonly object[] = [
    { result: null },
    { result: 'yes' },
    { result: {} },
    { result: [] },
    { result: true },
    { result: -1 },
    { result: '0x' + 'zz' },
    { error: { code: -32603, message: 'boom' } },
    { error: { code: 12, message: 'unheard of' } },
    { error: {} },
  ]
  for (const said of nonsense) {
    it(`is told as 503 when the node answers ${JSON.stringify(said)}`, async () => {
      // A profile that is not known yet: its owner is read.
      const { address } = await chain.anotherProfile()
      mangled = new Map([['eth_call', said]])
      assertUnavailable(await client.execute({ channel: 5n }), '/execute')
      const timestamp = Math.floor(Date.now() / 1000)
      const { transaction } = client.sign({})
      const body = { address, timestamp, signature: transaction.signature }
      const response = await fetch(`${server.url}/quota`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const json = (await response.json()) as Answer['json']
      assertUnavailable({ status: response.status, headers: response.headers, json }, '/quota')
    })
  }

  it('is told as 503 when the database takes no writes, and is over when it does', async () => {
    const { db } = server.database
    await server.database.assertWritable()
    await sql`set default_transaction_read_only = on`.execute(db)
    const refused = await client.execute({ channel: 6n })
    await sql`set default_transaction_read_only = off`.execute(db)
    assertUnavailable(refused, '/execute')
    expect((await client.execute({ channel: 6n })).status).to.equal(200)
  })

  it('is told by the class of the SQLSTATE, and by nothing else', () => {
    const log = pino({ level: 'silent' })
    const fromDatabase = (code: string) => Object.assign(new Error('said'), { code, severity: 'ERROR' })
    for (const code of ['53100', '53200', '53300', '57P01', '57P03', '58030', '08006', '25006', 'XX001']) {
      expect(toServiceError(fromDatabase(code), log).code, code).to.equal('UPSTREAM_UNAVAILABLE')
      expect(toServiceError(new Error('around', { cause: fromDatabase(code) }), log).code).to.equal(
        'UPSTREAM_UNAVAILABLE',
      )
    }
    for (const code of ['42P01', '23505', '22P02', '42601', 'P0001']) {
      expect(toServiceError(fromDatabase(code), log).code, code).to.equal('INTERNAL')
    }
    expect(toServiceError(new TypeError('ours'), log).code).to.equal('INTERNAL')
  })
})
