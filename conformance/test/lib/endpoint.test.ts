import { expect } from 'chai'
import { createEndpoint, endpointState } from '../../lib/endpoint.ts'
import { createHttpClient, type HttpClient } from '../../lib/http.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { createPatience } from '../../lib/limits.ts'
import type { Exchange } from '../../lib/report-types.ts'
import { createTargetClock } from '../../lib/target-clock.ts'
import { serve, type TestServer } from '../support/serve.ts'

const served = '{"result":"0x1"}'
const refused = '{"error":{"code":-32603,"message":"Internal error"}}'

/** A target that refuses the body "refused", and as many of the next requests as it is told to. */
async function serveWithRefusals() {
  let refusals = 0
  const server = await serve((_request, response, body) => {
    response.end(body === '"refused"' || refusals-- > 0 ? refused : served)
  })
  const refuseNext = (count: number): void => {
    refusals = count
  }
  return { ...server, refuseNext }
}

describe('an endpoint of the target', () => {
  let http: HttpClient
  let exchanges: Exchange[]
  let notes: string[]
  /** Called when the endpoint has found that nobody listens. */
  let onDeath: () => void
  beforeEach(() => {
    http = createHttpClient(500)
    exchanges = []
    notes = []
    onDeath = () => undefined
  })
  afterEach(() => http.close())

  function endpointAt(url: string, restartMs = 1, cheapRequest?: string, rateLimitMs = 2000) {
    const cheap = cheapRequest === undefined ? {} : { cheapRequest }
    const state = { ...endpointState({ url, host: {} }), ...cheap }
    const patience = createPatience({ receiptMs: 100, rateLimitMs, restartMs })
    return createEndpoint({ http, clock: createTargetClock(), patience, notes }, state, (exchange) => {
      exchanges.push(exchange)
      if (['died', 'refused'].includes(exchange.failure?.kind ?? '')) onDeath()
    })
  }

  it('waits as long as a rate limit asks, and then asks again', async () => {
    let count = 0
    await using server = await serve((_request, response) => {
      if (count++ === 0) response.writeHead(429, { 'retry-after': '0' }).end()
      else response.end('{}')
    })
    expect((await endpointAt(server.url).send({})).status).to.equal(200)
    expect(exchanges.map(({ response }) => response?.status)).to.deep.equal([429, 200])
  })

  it('gives up on a rate limit that asks for too long, without a verdict', async () => {
    await using server = await serve((_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end())
    const endpoint = endpointAt(server.url)
    expect(await endpoint.send({}).catch((error: unknown) => error)).to.be.instanceOf(Untestable)
    expect((await endpoint.send({}, { takeRateLimit: true })).status).to.equal(429)
  })

  it('waits no longer for a limit that names no time when it hears that this is in vain', async () => {
    await using server = await serve((_request, response) => response.writeHead(429).end('{}'))
    const isInVain = async (waits: number) => waits === 1
    expect((await endpointAt(server.url).send({}, { isInVain })).status).to.equal(429)
    expect(server.requests).to.have.length(2)
  })

  it('waits for a firewall that has let the run through, and gives up on it without a verdict', async () => {
    let isOpen = true
    let pages = 2
    await using server = await serve((_request, response) => {
      if (isOpen || pages-- <= 0) response.end('{}')
      else response.writeHead(403).end('<!DOCTYPE html><title>Attention Required!</title>')
    })
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    await endpoint.send({})
    isOpen = false
    expect((await endpoint.send({})).text).to.equal('{}')
    pages = Infinity
    expect(await endpoint.send({}).catch((error: unknown) => error)).to.be.instanceOf(Untestable)
    expect((await endpointAt(server.url, 1, '"cheap"').send({})).status, 'of a run that it never let in').to.equal(403)
  })

  it('waits for the other forms of a rate limit too, and makes the body anew', async () => {
    const limits = [
      { status: 503, headers: { 'retry-after': '0' }, body: 'busy' },
      { status: 429, headers: { 'retry-after': new Date(0).toUTCString(), date: new Date(0).toUTCString() }, body: '' },
      { status: 200, headers: { 'retry-after': '0' }, body: '{"error":{"code":-32005}}' },
    ]
    await using server = await serve((_request, response) => {
      const { status, headers, body } = limits.shift() ?? { status: 200, headers: {}, body: '{}' }
      response.writeHead(status, headers).end(body)
    })
    let made = 0
    expect((await endpointAt(server.url).send(() => ({ n: ++made }))).text).to.equal('{}')
    expect(server.requests.map(({ body }) => body)).to.deep.equal(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
  })

  it('takes -32005 for a rate limit where a cheap request is limited too, or where waiting ends it', async () => {
    const limited = '{"error":{"code":-32005}}'
    let cheapLimits = 0
    await using server = await serve((_request, response, body) => {
      const isCheap = body === '"cheap"'
      response.end(isCheap && cheapLimits-- <= 0 ? '{"result":"0x1"}' : limited)
    })
    expect((await endpointAt(server.url, 1, '"cheap"').send('a large query')).text).to.equal(limited)
    // Once more after a second; the run may wait no longer.
    expect(server.requests).to.have.length(4)
    cheapLimits = 1
    const waited = await endpointAt(server.url, 1, '"cheap"').send('any query')
    expect(waited.text).to.equal(limited)
    expect(server.requests.map(({ body }) => body).slice(4)).to.deep.equal([
      '"any query"',
      '"cheap"',
      '"any query"',
      '"cheap"',
    ])
  })

  it('waits three times for -32005 while a cheap request is served, and then takes its words for an answer', async () => {
    const limited = '{"error":{"code":-32005}}'
    await using server = await serve((_request, response, body) => {
      response.setHeader('retry-after', '0').end(body === '"cheap"' ? '{"result":"0x1"}' : limited)
    })
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    for (const requests of [8, 10]) {
      expect((await endpoint.send('a large query')).text).to.equal(limited)
      expect(server.requests).to.have.length(requests)
    }
  })

  it('asks again where one error says when to come again, and the cheap request is served', async () => {
    let count = 0
    await using server = await serve((_request, response, body) => {
      if (body === '"cheap"' || count++ > 0) return response.end(served)
      response.setHeader('retry-after', '0').end(refused)
    })
    expect((await endpointAt(server.url, 1, '"cheap"').send({})).text).to.equal(served)
    expect(count).to.equal(2)
  })

  it('asks again where a target refuses all that it has served before, and does not say why', async () => {
    await using server = await serveWithRefusals()
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    expect((await endpoint.send('any')).text).to.equal(served)
    expect((await endpoint.send('refused')).text, 'while others are served').to.equal(refused)
    server.refuseNext(2)
    expect((await endpoint.send('any')).text, 'a second later').to.equal(served)
    server.refuseNext(Infinity)
    expect((await endpoint.send('any')).text, 'for ever').to.equal(refused)
    expect(server.requests).to.have.length(2 + 2 + 3 + 4)
  })

  it('sends one request at a time while a limit lasts that is not told', async () => {
    let refusals = 0
    let open = 0
    let mostServedAtOnce = 0
    await using server = await serve((_request, response) => {
      open++
      const isRefused = refusals-- > 0
      if (!isRefused) mostServedAtOnce = Math.max(mostServedAtOnce, open)
      setTimeout(() => {
        open--
        response.end(isRefused ? refused : served)
      }, 20)
    })
    const endpoint = endpointAt(server.url, 1, '"cheap"', 8000)
    await endpoint.send('any')
    // Each with the cheap request.
    refusals = 4 * 2
    const answers = await Promise.all(Array.from({ length: 4 }, () => endpoint.send('any')))
    expect(answers.map(({ text }) => text)).to.deep.equal([served, served, served, served])
    expect(mostServedAtOnce).to.equal(1)
  })

  it('looks again at a refusal that a limit which is not told may have left behind', async () => {
    await using server = await serveWithRefusals()
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    await endpoint.send('any')
    server.refuseNext(2)
    await endpoint.send('any')
    expect((await endpoint.send('refused')).text, 'while others are served').to.equal(refused)
    server.refuseNext(1)
    expect((await endpoint.send('any')).text, 'the limit ended before the cheap request').to.equal(served)
    server.refuseNext(1)
    expect((await endpoint.send('any')).text, 'again and again').to.equal(refused)
    expect(server.requests).to.have.length(2 + 3 + 4 + 3 + 2)
  })

  it('does not wait for a limit that meets the cheap request alone', async () => {
    const unknown = '{"error":{"code":-32601,"message":"no such method"}}'
    let isLimited = false
    await using server = await serve((_request, response, body) => {
      if (body === '"unknown"') response.end(unknown)
      else response.end(isLimited ? refused : served)
    })
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    await endpoint.send('any')
    isLimited = true
    expect((await endpoint.send('unknown')).text).to.equal(unknown)
    expect(server.requests).to.have.length(2 + 2)
  })

  it('asks again where a target closes the connection to all that it has served before', async () => {
    let closes = (_body: string) => false
    await using server = await serve((_request, response, body) => {
      if (closes(body)) response.destroy()
      else response.end(served)
    })
    const endpoint = endpointAt(server.url, 1, '"cheap"')
    expect((await endpoint.send('any')).text).to.equal(served)
    closes = (body) => body === '"refused"'
    expect((await endpoint.send('refused')).failure?.kind, 'while others are served').to.equal('closed')
    const shutUntilMs = Date.now() + 500
    closes = () => Date.now() < shutUntilMs
    expect((await endpoint.send('any')).text, 'a second later').to.equal(served)
    closes = () => true
    expect((await endpoint.send('any')).failure?.kind, 'for ever').to.equal('closed')
  })

  it('takes errors of HTTP that may be about one request for a rate limit only where a cheap one is refused too', async () => {
    const forms = [
      { status: 403, headers: { 'retry-after': '0' }, body: '{"message":"blocked"}' },
      { status: 200, headers: {}, body: '{"error":{"code":429,"message":"compute units"}}' },
      { status: 200, headers: {}, body: '{"error":{"code":-32000,"message":"Rate limit exceeded"}}' },
      { status: 503, headers: {}, body: 'unavailable' },
      { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Access denied</h1>' },
    ]
    for (const { status, headers, body } of forms) {
      let limits = 2
      let isCheapLimited = true
      await using server = await serve((_request, response, sent) => {
        const isLimited = sent === '"cheap"' ? isCheapLimited : limits-- > 0
        if (isLimited) response.writeHead(status, headers).end(body)
        else response.end('{}')
      })
      const endpoint = endpointAt(server.url, 1, '"cheap"')
      if (headers['retry-after'] !== undefined) expect((await endpoint.send('any')).text, body).to.equal('{}')
      limits = 1
      isCheapLimited = false
      const isOfJsonRpc = status === 200
      expect((await endpoint.send('any')).text, body).to.equal(isOfJsonRpc ? '{}' : body)
    }
  })

  it('waits for a rate limit in words, and for a 503 that ends', async () => {
    for (const [status, body] of [
      [503, 'unavailable'],
      [200, '{"error":{"code":-32000,"message":"Rate limit exceeded"}}'],
    ] as const) {
      let requests = 0
      await using server = await serve((_request, response) => {
        if (requests++ < 2) response.writeHead(status).end(body)
        else response.end('{}')
      })
      expect((await endpointAt(server.url, 1, '"cheap"').send('any')).text, body).to.equal('{}')
    }
  })

  it('waits for a limit that leaves the cheap request without an answer', async () => {
    let limits = 2
    await using server = await serve((_request, response, sent) => {
      if (sent === '"cheap"') response.destroy()
      else if (limits-- > 0) response.writeHead(503).end('unavailable')
      else response.end('{}')
    })
    expect((await endpointAt(server.url, 1, '"cheap"', 8000).send('any')).text).to.equal('{}')
  })

  it('takes an error 503 that names no time for an answer where it lasts, and does not wait for it again', async () => {
    await using server = await serve((_request, response) => response.writeHead(503).end())
    expect((await endpointAt(server.url).send({})).status).to.equal(503)
    expect(server.requests).to.have.length(1)
    const endpoint = endpointAt(server.url, 1, '"cheap"', 8000)
    expect((await endpoint.send({})).status).to.equal(503)
    const asked = server.requests.length
    expect((await endpoint.send({})).status).to.equal(503)
    expect(server.requests.length).to.equal(asked + 1)
  }).timeout(20_000)

  it('takes an error with Retry-After that asks for a credential for an answer', async () => {
    await using server = await serve((_request, response) => response.writeHead(401, { 'retry-after': '0' }).end())
    expect((await endpointAt(server.url, 1, '"cheap"').send({})).status).to.equal(401)
    expect(server.requests).to.have.length(1)
  })

  it('takes a closed connection for an answer while somebody listens', async () => {
    await using server = await serve((request) => request.socket.destroy())
    const endpoint = endpointAt(server.url)
    for (let sent = 0; sent < 5; sent++) expect((await endpoint.send({})).failure?.kind).to.equal('closed')
  })

  it('blames a death on the clause that owes an answer, and asks no more', async () => {
    const server = await serve((request) => {
      void server[Symbol.asyncDispose]()
      request.socket.destroy()
    })
    const endpoint = endpointAt(server.url)
    const fault = await endpoint
      .send({}, { once: true, owedBy: 'relay.execute.post' })
      .catch((thrown: unknown) => thrown)
    expect(fault).to.be.instanceOf(Fault).and.include({ of: 'relay.execute.post' })
    expect((fault as Fault).answer?.exchange).to.equal(exchanges[0])
    await using tooLate = await serve((_request, response) => response.end('{}'), Number(new URL(server.url).port))
    const later = await endpoint.send({}).catch((thrown: unknown) => thrown)
    expect(later).to.be.instanceOf(Untestable).and.include({ because: 'relay.execute.post' })
    expect(tooLate.requests).to.have.length(0)
  })

  it('goes on with a target that is back in time', async () => {
    const first = await serve((_request, response) => response.end('{}'))
    const endpoint = endpointAt(first.url, 5000)
    expect((await endpoint.send({}, { once: true })).status).to.equal(200)
    await first[Symbol.asyncDispose]()
    let second: Promise<TestServer> | undefined
    onDeath = () => {
      second ??= serve((_request, response) => response.end('{}'), Number(new URL(first.url).port))
    }
    expect((await endpoint.send({})).status).to.equal(200)
    await using back = await second
    expect(back?.requests).to.have.length(1)
  })

  it('blames a death where the target dies of the same request when it is back, and not where it answers', async () => {
    let mayLive = false
    let server: TestServer
    const start = async (port = 0): Promise<void> => {
      server = await serve((request, response, body) => {
        if (mayLive && body === '"harmless"') return response.end('{}')
        mayLive = true
        void server[Symbol.asyncDispose]()
        request.socket.destroy()
      }, port)
    }
    let started = start()
    await started
    const { url } = server!
    onDeath = () => {
      started = start(Number(new URL(url).port))
    }
    const endpoint = endpointAt(url, 5000)
    const owed = { owedBy: 'relay.quota.post' } as const
    expect((await endpoint.send('harmless', owed)).text).to.equal('{}')
    expect(notes).to.have.length(1)
    const fault = await endpoint.send('deadly', owed).catch((thrown: unknown) => thrown)
    expect(fault).to.be.instanceOf(Fault).and.include({ of: 'relay.quota.post' })
    expect(exchanges.filter(({ failure }) => failure?.kind === 'died')).to.have.length(3)
    for (let sent = 0; sent < 3; sent++)
      expect((await endpoint.send('deadly', { once: true })).failure?.kind).to.equal('died')
    expect((await endpoint.send('harmless')).text, 'after deaths in a row').to.equal('{}')
    await started
    await server![Symbol.asyncDispose]()
  })

  it('asks no more after three requests in a row without an answer', async () => {
    await using server = await serve(() => undefined)
    const endpoint = endpointAt(server.url)
    for (let sent = 0; sent < 3; sent++) expect((await endpoint.send({})).failure?.kind).to.equal('timeout')
    expect(await endpoint.send({}).catch((error: unknown) => error)).to.be.instanceOf(Untestable)
    expect(server.requests).to.have.length(3)
  })
})
