import { expect } from 'chai'
import { startChain, type RunningChain } from '../../contracts/chain.ts'
import { testbedConfig } from '../../testbed/testbed.ts'
import type { LoadedConfig } from '../config/load.ts'
import { lasting } from './support/lasting.ts'
import { startNodeProxy } from './support/nodes.ts'
import { until } from './support/until.ts'
import { startServer, type RunningServer, type StartOptions } from '../start.ts'

interface RpcAnswer {
  id: unknown
  result?: unknown
  error?: { code: number; message: string }
}

describe('startServer', () => {
  let chain: RunningChain
  let server: RunningServer

  before(async () => {
    chain = await startChain()
    server = await start()
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  function start(
    limits: Partial<LoadedConfig['config']['limits']> = {},
    options: StartOptions = {},
    port = 0,
    rpcUrl = chain.rpcUrl,
  ) {
    const loaded = testbedConfig(chain, port)
    const config = {
      ...loaded.config,
      listen: { ...loaded.config.listen, trustedProxies: 1 },
      chain: { ...loaded.config.chain, rpcUrls: [rpcUrl] },
      limits: { ...loaded.config.limits, ...limits },
      log: { level: 'silent' as const },
    }
    return startServer({ ...loaded, config }, options)
  }

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const chainIdCall = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] })

  it('serves every path below the base paths that dapps are set to, with slashes doubled, and below no other', async () => {
    for (const prefix of ['/', '//', '/v1/', '/api/', '/v1/relayer/', '/api/v1//']) {
      const response = await post(`${server.url}${prefix}api/eth-rpc`, chainIdCall(1))
      expect(((await response.json()) as RpcAnswer).result, prefix).to.equal('0x7a69')
      expect((await post(`${server.url}${prefix}execute`, {})).status, prefix).to.equal(400)
      expect((await post(`${server.url}${prefix}execute/`, {})).status, prefix).to.equal(400)
    }
    // A base URL that is wrong shows.
    for (const prefix of ['/execute/', '/quota/', '/some/prefix/', '/api/eth-rpc/']) {
      expect((await post(`${server.url}${prefix}execute`, {})).status, prefix).to.equal(404)
    }
  })

  it('shows its page below every base path, with and without a slash at the end', async () => {
    for (const path of ['/', '/v1/', '/v1', '/v1/relayer', '/v1/relayer/']) {
      const response = await fetch(`${server.url}${path}`)
      expect(response.status, path).to.equal(200)
      expect(new URL('docs', response.url).pathname, path).to.equal(`${path.replace(/\/$/, '')}/docs`)
    }
  })

  it('answers one who asks for logs while another address has asked for many', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl)
    proxy.delayedMethod = 'eth_getLogs'
    proxy.delayMs = 100
    const busy = await start({}, {}, 0, proxy.url)
    const ask = async (address: string, id: number) => {
      const filter = { fromBlock: '0x0', toBlock: 'latest', address: `0x${id.toString(16).padStart(40, '0')}` }
      const call = { jsonrpc: '2.0', id, method: 'eth_getLogs', params: [filter] }
      const response = await post(`${busy.url}/api/eth-rpc`, call, { 'x-forwarded-for': address })
      return ((await response.json()) as RpcAnswer).result
    }
    const asked = () => proxy.calls.get('eth_getLogs') ?? 0
    const many = Promise.all(Array.from({ length: 60 }, (_, index) => ask('203.0.113.1', 1 + index)))
    await until(() => asked() > 0)
    expect(await ask('203.0.113.2', 1_000)).to.deep.equal([])
    expect(asked()).to.be.lessThan(45)
    await many
    await busy.close()
    await proxy.close()
  })

  it('answers in the time of the configuration while the node is silent, and says whose fault it is', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl)
    const slow = await start({ answerSeconds: 1 }, {}, 0, proxy.url)
    await post(`${slow.url}/api/eth-rpc`, chainIdCall(0)).then((response) => response.text())
    proxy.delayMs = 20_000
    const call = (id: number, method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id, method, params })
    const logs = call(1, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })
    const balance = call(2, 'eth_getBalance', `0x${'11'.repeat(20)}`, 'latest')
    for (const body of [logs, balance, Array.from({ length: 200 }, (_, id) => ({ ...balance, id }))]) {
      const ask = async () => (await post(`${slow.url}/api/eth-rpc`, body)).json() as Promise<RpcAnswer | RpcAnswer[]>
      const answers = [await lasting([950, 2_400], ask)].flat()
      expect(new Set(answers.map(({ error }) => `${error?.code} ${error?.message.split(':')[0]}`))).to.deep.equal(
        new Set(['-32000 Upstream unavailable']),
      )
    }
    proxy.delayMs = 0
    await slow.close()
    await proxy.close()
  })

  it('answers unknown paths and wrong verbs in its own form', async () => {
    const unknown = await fetch(`${server.url}/nothing`)
    expect(unknown.status).to.equal(404)
    expect(await unknown.json()).to.include({ code: 'NOT_FOUND', broadcast: false })
    const wrongVerb = await fetch(`${server.url}/execute`)
    expect(wrongVerb.status).to.equal(405)
    expect(wrongVerb.headers.get('allow')).to.include('POST')
    expect(await wrongVerb.json()).to.include({ code: 'METHOD_NOT_ALLOWED', broadcast: false })
  })

  it('lets browser wallets in, whatever headers they send', async () => {
    const preflight = await fetch(`${server.url}/execute`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://wallet.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,access-control-allow-origin,x-anything',
      },
    })
    expect(preflight.status).to.equal(204)
    expect(preflight.headers.get('access-control-allow-origin')).to.equal('*')
    expect(preflight.headers.get('access-control-max-age')).to.equal('7200')
    expect(preflight.headers.get('access-control-allow-headers')).to.include('access-control-allow-origin')
    const refused = await post(`${server.url}/execute`, {}, { Origin: 'https://wallet.example' })
    expect(refused.headers.get('access-control-allow-origin')).to.equal('*')
    const readable = refused.headers.get('access-control-expose-headers')?.toLowerCase().split(',')
    expect(readable).to.include.members(['x-request-id', 'retry-after', 'ratelimit-remaining'])
  })

  it('names each request: by the id that came, or by one of its own', async () => {
    const given = await fetch(`${server.url}/healthz`, { headers: { 'X-Request-Id': 'abc-1' } })
    expect(given.headers.get('x-request-id')).to.equal('abc-1')
    const hostile = await fetch(`${server.url}/healthz`, { headers: { 'X-Request-Id': 'a"b{}' } })
    expect(hostile.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/)
  })

  it('counts requests by route and status', async () => {
    await post(`${server.url}/quota`, {})
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).to.match(/touchstone_http_requests_total\{route="\/quota",method="POST",status="400"\} \d/)
    expect(metrics).to.match(/touchstone_upstream_calls_total\{method="eth_chainId",outcome="ok"\} \d/)
    expect(metrics).to.match(/touchstone_signer_balance_coins\{signer="0x\w{40}"\} \d/)
  })

  it('starts again on the port it left, and says when one is taken', async () => {
    const first = await start()
    const port = Number(new URL(first.url).port)
    const error = await start({}, {}, port).then(
      () => expect.fail('two servers on one port'),
      (thrown: unknown) => thrown,
    )
    expect(error).to.have.property('code', 'EADDRINUSE')
    await first.close()
    const again = await start({}, {}, port)
    expect((await fetch(`${again.url}/readyz`)).status).to.equal(200)
    await again.close()
  })

  it('answers what is in flight before it stops, and takes nothing new', async () => {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const slow: StartOptions = {
      middleware: [
        async (ctx, next) => {
          if (ctx.path === '/healthz') {
            arrived.resolve()
            await released.promise
          }
          await next()
        },
      ],
    }
    const stopping = await start({}, slow)
    const inFlight = fetch(`${stopping.url}/healthz`)
    await arrived.promise
    const closed = stopping.close()
    expect(stopping.close(), 'a second call waits for the first').to.equal(closed)
    expect(await fetch(stopping.url).catch(() => 'refused')).to.equal('refused')
    released.resolve()
    expect((await inFlight).status).to.equal(200)
    await closed
  })

  it('tells balancers that it is going away, and serves on while it drains', async () => {
    const { config, ...loaded } = testbedConfig(chain, 0)
    const shutdown = { drainSeconds: 1, graceSeconds: 1 }
    const going = await startServer({ ...loaded, config: { ...config, shutdown, log: { level: 'silent' } } })
    const closed = going.close()
    const ready = await fetch(`${going.url}/readyz`)
    expect(ready.status).to.equal(503)
    expect(await ready.json()).to.deep.equal({ ready: false, draining: true, checks: {} })
    const answer = await post(`${going.url}/api/eth-rpc`, chainIdCall(1))
    expect(((await answer.json()) as RpcAnswer).result).to.equal('0x7a69')
    await closed
    expect(await fetch(going.url).catch(() => 'refused')).to.equal('refused')
  })

  describe('with limits', () => {
    let limited: RunningServer
    before(async () => {
      limited = await start({ requestsPerMinute: 3 })
    })
    after(() => limited.close())

    it('counts an IPv6 /64, each spelling of an address, and garbage as one caller', async () => {
      const callers = [
        ['2001:db8::1', '[2001:db8::2]:443', '2001:0db8:0:0:ffff::3', '2001:db8::4'],
        ['192.0.2.9', '192.0.2.9:1000', '::ffff:192.0.2.9', '[::ffff:c000:209]:7'],
        ['garbage-1', 'garbage-2', 'unknown', '<4>'],
      ]
      for (const spellings of callers) {
        const statuses: number[] = []
        for (const address of spellings) {
          statuses.push((await post(`${limited.url}/quota`, {}, { 'X-Forwarded-For': address })).status)
        }
        expect(statuses, spellings[0]).to.deep.equal([400, 400, 400, 429])
      }
    })

    it('counts whatever comes: pages, paths that lead nowhere, and bodies that are no JSON', async () => {
      const get = async (path: string, address: string) => {
        const response = await fetch(`${limited.url}${path}`, { headers: { 'X-Forwarded-For': address } })
        await response.arrayBuffer()
        return response.status
      }
      const statuses = (path: string, address: string) =>
        [1, 2, 3, 4].reduce<Promise<number[]>>(
          async (before) => [...(await before), await get(path, address)],
          Promise.resolve([]),
        )
      expect(await statuses('/docs/openapi.json', '192.0.2.20')).to.deep.equal([200, 200, 200, 429])
      expect(await statuses('/nowhere', '192.0.2.21')).to.deep.equal([404, 404, 404, 429])
      expect(await statuses('/api/eth-rpc', '192.0.2.22')).to.deep.equal([405, 405, 405, 429])
      expect(await statuses('/v1/healthz', '192.0.2.23'), 'probes are not').to.deep.equal([200, 200, 200, 200])

      const codes: unknown[] = []
      for (const body of ['{', '{', 'x'.repeat(5_000), '{"jsonrpc"']) {
        const headers = { 'content-type': 'application/json', 'X-Forwarded-For': '192.0.2.24' }
        const response = await fetch(`${limited.url}/api/eth-rpc`, { method: 'POST', headers, body })
        codes.push(((await response.json()) as RpcAnswer).error?.code)
      }
      expect(codes).to.deep.equal([-32700, -32700, -32700, -32005])
    })

    it('counts a large body by its length before it is parsed', async () => {
      const headers = { 'content-type': 'application/json', 'X-Forwarded-For': '192.0.2.30' }
      for (const [path, code] of [
        ['/quota', 'RATE_LIMITED'],
        ['/api/eth-rpc', -32005],
      ] as const) {
        headers['X-Forwarded-For'] = `192.0.2.${path.length}`
        const response = await fetch(`${limited.url}${path}`, { method: 'POST', headers, body: '['.repeat(300_000) })
        const answer = (await response.json()) as { code?: string; error?: { code: number } }
        expect(answer.error?.code ?? answer.code).to.equal(code)
      }
    })

    it('refuses in the form of the endpoint, with the standard headers, each address by itself', async () => {
      const from = (address: string) => ({ 'X-Forwarded-For': address })
      for (let count = 1; count <= 3; count++) {
        const response = await post(`${limited.url}/quota`, {}, from('192.0.2.1'))
        expect(response.status).to.equal(400)
        expect(response.headers.get('ratelimit-limit')).to.equal('3')
        expect(response.headers.get('ratelimit-remaining')).to.equal(String(3 - count))
      }
      const refused = await post(`${limited.url}/quota`, {}, from('192.0.2.1'))
      expect(refused.status).to.equal(429)
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60)
      expect(await refused.json()).to.include({ code: 'RATE_LIMITED', broadcast: false })

      const single = await post(`${limited.url}/api/eth-rpc`, chainIdCall(7), from('192.0.2.1'))
      expect(single.status).to.equal(200)
      expect(await single.json())
        .to.deep.include({ id: 7 })
        .and.nested.include({ 'error.code': -32005 })

      const batch = await post(`${limited.url}/api/eth-rpc`, [1, 2, 3, 4].map(chainIdCall), from('192.0.2.2'))
      expect(await batch.json())
        .to.deep.include({ id: null })
        .and.nested.include({ 'error.code': -32005 })
      const other = await post(`${limited.url}/api/eth-rpc`, [1, 2, 3].map(chainIdCall), from('192.0.2.3'))
      expect(((await other.json()) as RpcAnswer[]).every(({ result }) => result === '0x7a69')).to.equal(true)
    })
  })
})

describe('a server without its node', () => {
  it('is alive, not ready, and says so in every form', async () => {
    const chain = await startChain()
    const loaded = testbedConfig(chain, 0)
    const server = await startServer({ ...loaded, config: { ...loaded.config, log: { level: 'silent' } } })
    try {
      expect(await (await fetch(`${server.url}/readyz`)).json()).to.deep.equal({
        ready: true,
        checks: { node: 'ok', database: 'ok', signers: 'ok' },
      })
      await chain.close()
      expect((await fetch(`${server.url}/healthz`)).status).to.equal(200)
      // What was found just now holds for some milliseconds.
      await until(async () => (await fetch(`${server.url}/readyz`)).status !== 200)
      const ready = await fetch(`${server.url}/readyz`)
      expect(ready.status).to.equal(503)
      expect(await ready.json())
        .to.deep.include({ ready: false })
        .and.nested.include({ 'checks.node': 'failed' })
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
      const headers = { 'content-type': 'application/json' }
      const rpc = await fetch(`${server.url}/api/eth-rpc`, { method: 'POST', headers, body: JSON.stringify(call) })
      expect(rpc.status).to.equal(200)
      expect(await rpc.json()).to.nested.include({ 'error.code': -32000 })
    } finally {
      await server.close()
    }
  })
})
