import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startServerProcess, type Started } from '../../../testbed/processes.ts'
import { startNodeProxy, type NodeProxy } from '../support/node-proxy.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import { until } from '../support/until.ts'

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
    await until(() => named('settle').length > 0 && named('POST /execute').length > 0, 10_000)

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
    const silent = createServer().listen(0, '127.0.0.1')
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
