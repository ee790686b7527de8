import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createApp } from '../app.ts'
import { silent } from './support/rpc-server.ts'

describe('createApp', () => {
  let server: Server
  let admitted: number

  before(async () => {
    const handle = createApp({
      routes: [{ method: 'GET', path: '/known', handle: (ctx) => void (ctx.body = { known: true }) }],
      log: silent,
      admit: async () => void admitted++,
    }).callback()
    server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(() => (admitted = 0))
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  /** The request line has the target as it is. */
  async function get(target: string): Promise<{ status: number | undefined; body: unknown }> {
    const request = send({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, path: target }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode, body: await json(response) }
  }

  it('takes doubled slashes and absolute targets for what they mean', async () => {
    for (const target of ['/known', '//known', 'http://relay.example/known']) {
      expect(await get(target), target).to.deep.equal({ status: 200, body: { known: true } })
    }
  })

  for (const target of ['http://', 'http://[', 'http://[::1', '*', '/\\[http://[']) {
    it(`counts a request for ${target}, and answers that nothing is there`, async () => {
      const { status, body } = await get(target)
      expect(status).to.equal(404)
      expect(body).to.have.property('code', 'NOT_FOUND')
      expect(admitted).to.equal(1)
    })
  }
})
