import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { hangUp, respond, type Alteration } from '../../altered/define.ts'
import { coded } from '../../altered/lib/answers.ts'
import { serveAlteration, type ServeOptions, type ServedAlteration } from '../../altered/serve.ts'
import type { Fixture } from '../../lib/fixture.ts'

describe('an altered server', () => {
  let behind: Server
  let serverUrl: string
  let served: ServedAlteration | undefined
  let broken: unknown[]

  before(async () => {
    // The server answers with what reached it.
    behind = createServer((incoming, outgoing) => {
      void incoming.toArray().then((chunks) => {
        const body = Buffer.concat(chunks as Buffer[]).toString('utf8')
        outgoing.end(JSON.stringify({ method: incoming.method, path: incoming.url, body }))
      })
    }).listen(0, '127.0.0.1')
    await once(behind, 'listening')
    serverUrl = `http://127.0.0.1:${(behind.address() as AddressInfo).port}`
  })
  beforeEach(() => (broken = []))
  afterEach(async () => {
    await served?.close()
    served = undefined
  })
  after(() => behind.close())

  async function serve(alteration: Alteration, options: Partial<ServeOptions> = {}): Promise<string> {
    const fixture = { chain: { rpcUrl: serverUrl } } as unknown as Fixture
    served = await serveAlteration(alteration, { serverUrl, fixture, ...options }, (error) => broken.push(error))
    return served.url
  }

  const post = (url: string, body = '{}') => request(url, { method: 'POST', body })

  it('forwards what has no handler, and hands paths to theirs', async () => {
    const url = await serve({ quota: async () => respond(418, { quota: 1 }) })
    expect(await (await post(`${url}/execute`, '{"a":1}')).body.json()).to.deep.equal({
      method: 'POST',
      path: '/execute',
      body: '{"a":1}',
    })
    expect((await post(`${url}/quota`)).statusCode).to.equal(418)
    expect((await request(`${url}/quota`)).statusCode).to.equal(200)
  })

  it('sees every request first, with the handlers of the paths behind', async () => {
    const url = await serve({
      every: async (seen, forward) => ({ ...(await forward(seen)), headers: { 'x-seen': seen.method } }),
      quota: async () => respond(200, { quota: 1 }),
    })
    const answer = await post(`${url}/quota`)
    expect(answer.headers['x-seen']).to.equal('POST')
    expect(await answer.body.json()).to.deep.equal({ quota: 1 })
    expect((await request(`${url}/docs`)).headers['x-seen']).to.equal('GET')
  })

  it('answers in bytes, and tells no time of its own', async () => {
    const url = await serve({ every: coded('gzip') })
    const answer = await post(`${url}/execute`)
    expect(answer.headers).to.include({ 'content-encoding': 'gzip' })
    expect(gunzipSync(await answer.body.bytes()).toString()).to.include('"path":"/execute"')
    await served?.close()
    const plain = await post(`${await serve({ every: async () => respond(200, {}) })}/execute`)
    expect(plain.headers).not.to.have.property('date')
  })

  it('closes the connection where it is told to', async () => {
    const url = await serve({ execute: async () => hangUp })
    const outcome = await post(`${url}/execute`).then(
      () => 'answered',
      (error: { code?: string }) => error.code,
    )
    expect(outcome).to.equal('UND_ERR_SOCKET')
    expect(broken).to.deep.equal([])
  })

  it('listens below a prefix, and by IPv6', async () => {
    const url = await serve({}, { listen: { host: '::1', prefix: '/v1', urlSuffix: '/' } })
    expect(url).to.match(/^http:\/\/\[::1\]:\d+\/v1\/$/)
    expect(await (await post(`${url}execute`)).body.json()).to.include({ path: '/execute' })
    expect((await post(url.replace('/v1/', '/execute'))).statusCode).to.equal(404)
  })

  it('closes connections beyond so many, or lets them wait for those before', async () => {
    const dispatcher = new Agent({ keepAliveTimeout: 50, keepAliveMaxTimeout: 50 })
    const together = (url: string) =>
      Promise.allSettled([1, 2, 3].map(() => request(`${url}/quota`, { dispatcher }).then(({ body }) => body.text())))
    for (const listen of [{ connections: 2 }, { newConnections: { count: 2, windowMs: 60_000 } }]) {
      const statuses = (await together(await serve({}, { listen }))).map(({ status }) => status)
      expect(statuses.toSorted()).to.deep.equal(['fulfilled', 'fulfilled', 'rejected'])
      await served?.close()
    }

    let inside = 0
    let most = 0
    const inTurn = await serve(
      {
        async every(incoming, forward) {
          most = Math.max(most, ++inside)
          return forward(incoming).finally(() => inside--)
        },
      },
      { listen: { inTurn: true } },
    )
    for (const { status } of await together(inTurn)) expect(status).to.equal('fulfilled')
    expect(most).to.equal(1)
    await dispatcher.destroy()
  })

  it('tells of its own failures', async () => {
    const url = await serve({
      execute: async () => {
        throw new Error('oops')
      },
    })
    expect((await post(`${url}/execute`)).statusCode).to.equal(500)
    expect(broken).to.have.length(1)
  })
})
