import { expect } from 'chai'
import { createEndpoint, type EndpointState } from '../../lib/endpoint.ts'
import { createHttpClient, type HttpClient } from '../../lib/http.ts'
import { Untestable } from '../../lib/outcome.ts'
import type { Exchange } from '../../lib/report-types.ts'
import { createTargetClock } from '../../lib/target-clock.ts'
import { serve } from '../support/serve.ts'

describe('an endpoint of the target', () => {
  let http: HttpClient
  let exchanges: Exchange[]
  beforeEach(() => {
    http = createHttpClient(200)
    exchanges = []
  })
  afterEach(() => http.close())

  function endpointAt(url: string) {
    const state: EndpointState = { url, silentInARow: 0, silent: 0 }
    return createEndpoint({ http, clock: createTargetClock() }, state, (exchange) => exchanges.push(exchange))
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

  it('asks no more after three requests in a row without an answer', async () => {
    await using server = await serve(() => undefined)
    const endpoint = endpointAt(server.url)
    for (let sent = 0; sent < 3; sent++) expect((await endpoint.send({})).failure?.kind).to.equal('timeout')
    expect(await endpoint.send({}).catch((error: unknown) => error)).to.be.instanceOf(Untestable)
    expect(server.requests).to.have.length(3)
  })
})
