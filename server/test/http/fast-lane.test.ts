import { expect } from 'chai'
import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { Registry } from 'prom-client'
import { createApp } from '../../app.ts'
import { createFastLane } from '../../http/fast-lane.ts'
import { jsonRpcEndpoint } from '../../http/json-rpc.ts'
import { createRequestMeter, meterRequests } from '../../telemetry/metrics.ts'
import { countRequests } from '../../http/rate-limit.ts'
import { createRateLimits } from '../../services/rate-limits.ts'
import { largeLog, rpcMethod, silent } from '../support/rpc-server.ts'
import { until } from '../support/until.ts'

const PATH = '/api/eth-rpc'
const METER = 'touchstone_http_requests_total'

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe('createFastLane', () => {
  let server: Server
  let registry: Registry
  let handled: number
  let seenByApp: number
  let gate: PromiseWithResolvers<void>

  async function start(requestsPerMinute = 0): Promise<void> {
    registry = new Registry()
    const meter = createRequestMeter(registry)
    const rateLimits = await createRateLimits({ requestsPerMinute, relaysPerMinute: 0 })
    const answer = jsonRpcEndpoint({
      methods: new Map([
        rpcMethod('eth_chainId', () => (handled++, '0x7a69')),
        rpcMethod('eth_gasPrice', () => (handled++, gate.promise.then(() => '0x1'))),
        rpcMethod('eth_getLogs', () => logs),
      ]),
      limits: { bodyBytes: 2000, batchLength: 3 },
      admit: {
        calls: (exchange, calls) => countRequests(exchange, rateLimits, { points: calls }),
        bytes: async () => {},
      },
    })
    const lane = createFastLane({ answers: new Map([[PATH, answer]]), log: silent, meter })
    const app = createApp({
      basePaths: ['/', '/v1'],
      routes: lane.routes,
      log: silent,
      middleware: [(_ctx, next) => (seenByApp++, next()), meterRequests(meter)],
    })
    server = createServer(lane.inFrontOf(app)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  }

  beforeEach(() => {
    handled = 0
    seenByApp = 0
    gate = Promise.withResolvers()
    return start()
  })
  afterEach(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })

  async function send(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    const { port } = server.address() as AddressInfo
    const sent = httpRequest({ port, path, method: 'POST', headers: { 'X-Request-Id': 'one', ...headers } }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const headersButDate = { ...response.headers, date: undefined }
    return { status: response.statusCode, headers: headersButDate, body: await text(response) }
  }
  const call = (members: object = {}) => ({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', ...members })
  const json = { 'content-type': 'application/json' }
  const whole = JSON.stringify(call())
  const large = { id: 'é', method: 'eth_getLogs', params: [{}] }
  const logs = Object.freeze([largeLog])

  const cases: [string, string | Buffer, Record<string, string>, boolean][] = [
    ['a call', whole, json, true],
    ['a call without a content type', whole, {}, true],
    ['an unknown method', JSON.stringify(call({ method: 'eth_call' })), json, true],
    ['no JSON', '{"jsonrpc"', json, true],
    ['a short batch', JSON.stringify([call(), call({ id: 2 })]), json, true],
    ['a call with a large answer', JSON.stringify(call(large)), json, true],
    ['a batch with large answers', JSON.stringify([call(large), call(), call(large)]), json, true],
    ['a packed call', gzipSync(whole), { ...json, 'content-encoding': 'gzip' }, true],
    ['a batch over the cap', JSON.stringify([1, 2, 3, 4].map((id) => call({ id }))), json, true],
    ['another content type', whole, { 'content-type': 'text/plain' }, false],
    ['a body over the limit', ' '.repeat(3000), json, false],
    ['a body over the limit in chunks', ' '.repeat(3000), { ...json, 'transfer-encoding': 'chunked' }, false],
    ['a caller on another page', whole, { ...json, origin: 'https://example.org' }, false],
  ]
  for (const [name, body, headers, isTaken] of cases) {
    it(`answers ${name} as the app does`, async () => {
      const lane = await send(PATH, body, headers)
      expect(seenByApp, 'seen by the app').to.equal(isTaken ? 0 : 1)
      const app = await send(`/v1${PATH}`, body, headers)
      expect(lane).to.deep.equal(app)
    })
  }

  it('is not disturbed by callers who have gone before their answer', async () => {
    const { port } = server.address() as AddressInfo
    const closed: Promise<unknown>[] = []
    server.on('connection', (socket) => closed.push(once(socket, 'close')))
    const body = JSON.stringify(call({ method: 'eth_gasPrice' }))
    const sent = Array.from({ length: 5 }, () =>
      httpRequest({ port, path: PATH, method: 'POST', headers: json })
        .on('error', () => {})
        .end(body),
    )
    await until(() => handled === 5)
    for (const one of sent) one.destroy()
    await Promise.all(closed)
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    try {
      gate.resolve()
      expect((await send(PATH, whole, json)).status).to.equal(200)
      expect(rejections).to.be.empty
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  it('sends all of a large answer, alone, in a batch and from the app', async () => {
    const answer = { jsonrpc: '2.0', id: 'é', result: logs }
    for (const path of [PATH, `/v1${PATH}`]) {
      expect(JSON.parse((await send(path, JSON.stringify(call(large)), json)).body)).to.deep.equal(answer)
      const batch = await send(path, JSON.stringify([call(large), call(), call(large)]), json)
      expect(JSON.parse(batch.body)).to.deep.equal([answer, { jsonrpc: '2.0', id: 1, result: '0x7a69' }, answer])
    }
  })

  it('names each request', async () => {
    const ids = [1, 2].map(
      async () => (await send(PATH, whole, { ...json, 'X-Request-Id': '' })).headers['x-request-id'],
    )
    const [one, other] = await Promise.all(ids)
    expect(one).to.be.a('string').with.length.above(20)
    expect(one).not.to.equal(other)
  })

  it('counts what it answers like what the app answers', async () => {
    for (const path of [PATH, `/v1${PATH}`, PATH]) await send(path, whole, json)
    await send(PATH, whole, { 'content-type': 'text/plain' })
    const metric = await registry.getSingleMetric(METER)?.get()
    expect(metric?.values).to.deep.equal([
      { labels: { route: PATH, method: 'POST', status: '200' }, value: 3 },
      { labels: { route: PATH, method: 'POST', status: '415' }, value: 1 },
    ])
  })

  it('counts each call once against the limit, and tells what is left', async () => {
    server.close()
    await start(5)
    const left = async (body: string) => (await send(PATH, body, json)).headers['ratelimit-remaining']
    expect(await left(whole)).to.equal('4')
    // Of a batch over the cap nothing runs.
    expect(await left(JSON.stringify([call(), call(), call(), call()]))).to.equal('3')
    expect(await left(JSON.stringify([call(), call(), call()]))).to.equal('0')
    const refused = await send(PATH, whole, json)
    expect(JSON.parse(refused.body)).to.have.nested.property('error.data.limit', 5)
    expect(refused.headers).to.have.property('retry-after')
    expect(handled).to.equal(4)
  })
})
