import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { postText, TimeoutError, HttpNode } from '../../../services/node/http-node.ts'
import { LOG_CALLS_AT_A_TIME, NodeFailure } from '../../../services/node/node-connection.ts'
import { WebSocketNode } from '../../../services/node/websocket-node.ts'
import { startFakeNode } from '../../support/fake-node.ts'

describe('postText', () => {
  let server: Server
  let pool: Pool

  async function start(listener: RequestListener): Promise<void> {
    server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 })
  }
  afterEach(async () => {
    await pool.destroy()
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })

  const post = (body: string, timeoutMs = 10_000) =>
    postText(pool, { path: '/path?key=1', headers: { 'content-type': 'application/json' }, body, timeoutMs })

  it('posts the text, and joins an answer that comes in pieces', async () => {
    let asked = ''
    await start((request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => (asked += chunk))
      request.on('end', () => {
        asked = `${request.method} ${request.url} ${request.headers['content-type']} ${asked}`
        const bytes = Buffer.from('\uFEFFaé')
        response.writeHead(418).write(bytes.subarray(0, -1), () => response.end(bytes.subarray(-1)))
      })
    })
    expect(await post('é?')).to.deep.equal({ status: 418, text: 'aé' })
    expect(asked).to.equal('POST /path?key=1 application/json é?')
  })

  it('gives up on an answer that is late, and on a request that waits behind it', async () => {
    let seen = 0
    await start((request, response) => {
      if (++seen > 1) response.end('at once')
      else request.resume()
    })
    const outcomes = await Promise.allSettled([post('one', 40), post('two', 20)])
    for (const outcome of outcomes) expect(outcome).to.have.property('reason').that.is.instanceOf(TimeoutError)
    expect((await post('three')).text).to.equal('at once')
    expect(seen, 'the one that waited was not sent').to.equal(2)
  })

  it('fails with the error of the connection', async () => {
    await start((request) => request.socket.destroy())
    expect(await post('').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('UND_ERR_SOCKET')
    server.close()
    await once(server, 'close')
    expect(await post('').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ECONNREFUSED')
    await pool.destroy()
    expect(await post('').catch((error: NodeJS.ErrnoException) => error.code)).to.equal('UND_ERR_DESTROYED')
  })
})

describe('queries for logs that wait for their turn', () => {
  for (const [way, connect] of [
    ['HTTP', ({ url }) => new HttpNode(url)],
    ['WebSocket', ({ webSocketUrl }) => new WebSocketNode(webSocketUrl)],
  ] satisfies [string, (node: Awaited<ReturnType<typeof startFakeNode>>) => HttpNode | WebSocketNode][]) {
    it(`are not sent when their time is over, by ${way}`, async () => {
      const silent = await startFakeNode({})
      silent.onRequest = () => {}
      silent.onMessage = () => {}
      const connection = connect(silent)
      const ask = (count: number, timeoutMs: number) =>
        Array.from({ length: count }, () => connection.call('eth_getLogs', [], timeoutMs))
      try {
        // The first ones hold all places for longer than the others have time.
        const outcomes = await Promise.allSettled([...ask(LOG_CALLS_AT_A_TIME, 200), ...ask(12, 100)])
        const failures = outcomes.map((outcome) =>
          outcome.status === 'rejected' ? (outcome.reason as unknown) : outcome,
        )
        expect(failures.every((failure) => failure instanceof NodeFailure)).to.equal(true)
        expect(silent.calls('eth_getLogs')).to.have.length(LOG_CALLS_AT_A_TIME)
      } finally {
        await connection.close()
        await silent.close()
      }
    })
  }
})
