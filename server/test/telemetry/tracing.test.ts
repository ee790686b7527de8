import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { startServerProcess, type Started } from '../../../testbed/processes.ts'
import { openTracing } from '../../telemetry/open-tracing.ts'
import { samplerFrom } from '../../telemetry/tracing.ts'
import { startNodeProxy, type NodeProxy } from '../support/nodes.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import { until } from '../support/until.ts'

/** What a log says, line by line. */
function recordingLog() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) })
  return { log, lines }
}

describe('openTracing', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9'

  for (const [variable, value] of Object.entries({
    OTEL_TRACES_EXPORTER: 'jaeger',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  })) {
    it(`does without traces, and says why, when ${variable} is ${value}`, async () => {
      const { log, lines } = recordingLog()
      expect(await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT, [variable]: value }, log)).to.equal(undefined)
      expect(lines).to.have.lengthOf(1)
      expect(lines[0]).to.include({ level: 40, msg: 'no traces are recorded' })
      expect(lines[0]?.['fault']).to.include(value)
    })
  }

  it('says nothing when nobody asks', async () => {
    const { log, lines } = recordingLog()
    expect(await openTracing({ OTEL_SERVICE_NAME: 'relay' }, log)).to.equal(undefined)
    expect(await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, log)).to.equal(undefined)
    expect(lines).to.deep.equal([])
  })
})

describe('samplerFrom', () => {
  const { log, lines } = recordingLog()
  const isKept = (environment: Record<string, string>) => {
    // One of the last that a ratio takes in.
    const traceId = 'f'.repeat(8).padEnd(32, '0')
    const { decision } = samplerFrom(environment, log).shouldSample(ROOT_CONTEXT, traceId, 'a', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }

  for (const [name, ratio, kept] of [
    ['', '', true],
    ['always_on', '', true],
    ['always_off', '', false],
    ['traceidratio', '1', true],
    ['traceidratio', '0', false],
    ['parentbased_always_on', '', true],
    ['parentbased_always_off', '', false],
    ['parentbased_traceidratio', '0.01', false],
    ['parentbased_traceidratio', 'much', true],
  ] as const) {
    it(`${name || 'nothing said'}${ratio && ` ${ratio}`}: ${kept ? 'kept' : 'left out'}`, () => {
      expect(isKept({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })).to.equal(kept)
      expect(lines).to.deep.equal([])
    })
  }

  it('keeps all, and says so, when it does not know the name', () => {
    expect(isKept({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).to.equal(true)
    expect(lines.splice(0)).to.have.nested.property('[0].sampler', 'jaeger_remote')
  })
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

describe('traces', () => {
  let chain: RelayChain
  let node: NodeProxy
  let receiver: OtlpReceiver
  let server: Started

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    node = await startNodeProxy(chain.node.rpcUrl)
    receiver = await startOtlpReceiver()
    server = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=touchstone',
      OTEL_SERVICE_NAME: 'relay-under-test',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    })
  })
  after(async () => {
    await server?.close()
    await receiver?.close()
    await node?.close()
    await chain?.close()
  })

  const start = (environment: Record<string, string>) =>
    startServerProcess({ rpcUrl: node.url, signerKeys: chain.signerKeys, environment })

  const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body, (_key, value: unknown) =>
        typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
      ),
    })

  const named = (name: string, traceId = TRACE) =>
    receiver.spans.filter((span) => span.name === name && span.traceId === traceId)

  it('follow a relay call from the request to its settlement, in the trace of the caller', async () => {
    const body = chain.client(server.url).sign({ channel: 1n })
    const answer = await post(server.url, '/execute', body, {
      traceparent: `00-${TRACE}-${PARENT}-01`,
      'x-request-id': 'traced-relay',
    })
    expect(answer.status, await answer.clone().text()).to.equal(200)
    await until(() => named('settle').length > 0 && named('POST /execute').length > 0)

    const [request] = named('POST /execute')
    expect(request).to.include({ service: 'relay-under-test', kind: 2, parentId: PARENT, status: 0 })
    expect(request?.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/execute',
      'http.response.status_code': 200,
      'touchstone.request_id': 'traced-relay',
    })
    const [relay] = named('relay')
    expect(relay?.parentId).to.equal(request?.spanId)
    for (const step of ['simulate', 'store', 'broadcast', 'settle']) {
      expect(named(step), step).to.have.lengthOf(1)
      expect(named(step)[0]?.parentId, step).to.equal(relay?.spanId)
    }
    const [settle] = named('settle')
    expect(settle?.attributes).to.include({
      'touchstone.relay.outcome': 'succeeded',
      'touchstone.request_id': 'traced-relay',
    })
    const [sent] = named('eth_sendRawTransaction')
    expect(sent).to.include({ kind: 3, parentId: named('broadcast')[0]?.spanId })
    expect(node.traceparents).to.include(`00-${TRACE}-${sent?.spanId}-01`)
    expect(receiver.headers[0]).to.include({ 'x-tenant': 'touchstone' })
  })

  it('hold neither addresses nor keys nor bodies', () => {
    const sent = Buffer.concat(receiver.bodies).toString('latin1').toLowerCase()
    expect(sent).to.include('eth_sendrawtransaction')
    expect(sent).not.to.match(/0x[0-9a-f]{8}/)
    for (const key of chain.signerKeys) expect(sent.includes(key.slice(2))).to.equal(false)
  })

  it('name the JSON-RPC method, and the call to the node beneath it', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [chain.target, '0x1'] }
    const traceId = TRACE.replace('0af', '1af')
    await post(server.url, '/api/eth-rpc', call, { traceparent: `00-${traceId}-${PARENT}-01` })
    await until(() => named('POST /api/eth-rpc', traceId).length > 0)
    const spans = named('eth_getBalance', traceId)
    const method = spans.find(({ kind }) => kind === 1)
    const upstream = spans.find(({ kind }) => kind === 3)
    expect(method?.parentId).to.equal(named('POST /api/eth-rpc', traceId)[0]?.spanId)
    expect(upstream?.parentId).to.equal(method?.spanId)
  })

  it('mark what failed, and leave out what the caller leaves out', async () => {
    const [dropped, failed] = [TRACE.replace('0af', '2af'), TRACE.replace('0af', '3af')]
    await post(server.url, '/quota', {}, { traceparent: `00-${dropped}-${PARENT}-00` })
    const client = chain.client(server.url)
    await post(server.url, '/execute', client.sign({ channel: 2n, id: 99n }), {
      traceparent: `00-${failed}-${PARENT}-01`,
    })
    await until(() => named('POST /execute', failed).length > 0)
    const [relay] = named('relay', failed)
    expect(relay).to.include({ status: 2 })
    expect(relay?.attributes).to.deep.equal({ 'error.type': 'NONCE_GAP' })
    expect(receiver.spans.filter(({ traceId }) => traceId === dropped)).to.deep.equal([])
  })

  it('harm neither requests nor the end of the server when nobody takes them', async () => {
    // It takes connections and never answers: the exporter waits for 10 s.
    const silent = createSocketServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const secondsToClose = async (collector: number) => {
      const lonely = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector}`,
        OTEL_BSP_SCHEDULE_DELAY: '10',
      })
      const client = chain.client(lonely.url)
      const channel = BigInt(collector)
      for (let id = 0n; id < 5n; id++) expect((await client.execute({ channel, id })).status).to.equal(200)
      const begunMs = performance.now()
      await lonely.close()
      return (performance.now() - begunMs) / 1000
    }
    expect(await secondsToClose(9)).to.be.below(9)
    expect(await secondsToClose(port)).to.be.below(9)
    silent.close()
  })

  it('cost nothing when nobody asks for them: the SDK is not loaded', async () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url
    const [unasked, disabled, none, asked] = await Promise.all([
      loadedWith({}),
      loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' }),
      loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }),
      loadedWith({ OTEL_TRACES_EXPORTER: 'otlp' }),
    ])
    expect({ unasked, disabled, none }).to.deep.equal({ unasked: [], disabled: [], none: [] })
    expect(asked).to.include.members(['sdk-trace', 'exporter-trace-otlp-proto'])
  })
})

/** Packages of the SDK that are loaded by everything that `serve` imports, and by opening the traces. */
async function loadedWith(environment: Record<string, string>): Promise<string[]> {
  const module = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../${path}`, import.meta.url)))
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ load(url, context, next) {
      // prom-client brings the API along, which does nothing by itself.
      const name = /@opentelemetry\\/([^/]+)/.exec(url)?.[1]
      if (name !== undefined && name !== 'api') loaded.add(name)
      return next(url, context)
    } })
    await import(${module('cli.ts')})
    const { openTracing } = await import(${module('telemetry/open-tracing.ts')})
    const tracing = await openTracing(process.env, { info() {}, warn() {} })
    await tracing?.close()
    console.log(JSON.stringify([...loaded]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...environment },
  })
  return JSON.parse(stdout) as string[]
}

/** A span as it came over the wire; ids in hex. */
export interface ReceivedSpan {
  readonly service: string | undefined
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number>>
  /** 2 is an error. */
  readonly status: number
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Everything that came, as bytes. */
  readonly bodies: readonly Buffer[]
  readonly headers: readonly NodeJS.Dict<string | string[]>[]
  close(): Promise<void>
}

/** Takes traces as a collector does: OTLP over HTTP, protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const headers: NodeJS.Dict<string | string[]>[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      if (request.url === '/v1/traces') {
        bodies.push(body)
        headers.push(request.headers)
        spans.push(...spansOf(body))
      }
      response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end()
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A message of protobuf: what stands in each field; nested messages are bytes until they are read. */
type Message = Map<number, (Buffer | bigint)[]>

/** `opentelemetry/proto/collector/trace/v1/trace_service.proto` and `trace/v1/trace.proto`. */
function spansOf(body: Buffer): ReceivedSpan[] {
  return nested(read(body), 1).flatMap((resourceSpans) => {
    const service = nested(resourceSpans, 1).map(attributesAt(1))[0]?.['service.name']
    return nested(resourceSpans, 2)
      .flatMap((scopeSpans) => nested(scopeSpans, 2))
      .map((span) => ({
        service: service === undefined ? undefined : String(service),
        name: bytes(span, 5).toString(),
        traceId: bytes(span, 1).toString('hex'),
        spanId: bytes(span, 2).toString('hex'),
        parentId: bytes(span, 4).toString('hex'),
        kind: Number(span.get(6)?.[0] ?? 0),
        attributes: attributesAt(9)(span),
        status: Number(nested(span, 15)[0]?.get(3)?.[0] ?? 0),
      }))
  })
}

const attributesAt =
  (field: number) =>
  (message: Message): Record<string, string | number> =>
    Object.fromEntries(
      nested(message, field).map((pair) => {
        const [value] = nested(pair, 2)
        const text = value?.get(1)?.[0]
        return [bytes(pair, 1).toString(), Buffer.isBuffer(text) ? text.toString() : Number(value?.get(3)?.[0])]
      }),
    )

const nested = (message: Message, field: number) =>
  (message.get(field) ?? []).filter((value) => Buffer.isBuffer(value)).map(read)

function bytes(message: Message, field: number): Buffer {
  const [value] = message.get(field) ?? []
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

function read(buffer: Buffer): Message {
  const message: Message = new Map()
  let at = 0
  const varint = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const fixed = (length: number) => buffer.subarray(at, (at += length))
  while (at < buffer.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    const value = wireType === 0 ? varint() : fixed(wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint()))
    const field = tag >> 3
    message.set(field, [...(message.get(field) ?? []), value])
  }
  return message
}
