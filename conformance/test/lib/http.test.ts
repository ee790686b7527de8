import { expect } from 'chai'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { createHttpClient, type HttpClient, type HttpRequest } from '../../lib/http.ts'
import { serve } from '../support/serve.ts'

describe('the recorded HTTP client', () => {
  let http: HttpClient
  const post = (url: string, more: Partial<HttpRequest> = {}) =>
    http.send({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', ...more })

  beforeEach(() => {
    http = createHttpClient(300)
  })
  afterEach(() => http.close())

  it('hands over any answer as it is, and records it', async () => {
    await using server = await serve((_request, response) => response.writeHead(418, { 'x-a': 'b' }).end('<p>'))
    const answer = await post(`${server.url}/execute`)
    expect(answer).to.include({ status: 418, text: '<p>', json: undefined, failure: undefined })
    expect(answer.exchange.request).to.include({ method: 'POST', url: `${server.url}/execute`, body: '{}' })
    expect(answer.exchange.response).to.include({ status: 418, body: '<p>' })
    expect(answer.exchange.response?.headers['x-a']).to.equal('b')
  })

  it('decodes content codings that it did not ask for, also of refusals', async () => {
    const codings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync }
    for (const [name, encode] of [...Object.entries(codings), ['deflate', deflateRawSync] as const]) {
      await using server = await serve((_request, response) =>
        response.writeHead(422, { 'content-encoding': name }).end(encode('{"a":1}')),
      )
      expect(await post(server.url), name).to.deep.include({ status: 422, json: { a: 1 } })
    }
    for (const name of Object.keys(codings)) {
      await using broken = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': name }).end('{"a":1}'),
      )
      expect((await post(broken.url)).failure?.message, name).to.match(/content coding/)
    }
  })

  it('reads JSON behind a byte order mark, as clients do', async () => {
    await using server = await serve((_request, response) => response.end('\uFEFF{"a":1}'))
    expect(await post(server.url)).to.deep.include({ json: { a: 1 }, text: '{"a":1}' })
  })

  it('does not follow redirects', async () => {
    await using server = await serve((_request, response) => response.writeHead(307, { location: '/' }).end())
    expect((await post(server.url)).status).to.equal(307)
    expect(server.requests).to.have.length(1)
  })

  it('blames no target for the time in which this process stood still', async () => {
    // The machine of both is suspended: the target answers a moment after that.
    const target = new Worker(
      `const { parentPort } = require('node:worker_threads')
      const server = require('node:http').createServer((_request, response) => setTimeout(() => response.end('{}'), 650))
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
      { eval: true },
    )
    try {
      const [port] = (await once(target, 'message')) as [number]
      const url = `http://127.0.0.1:${port}`
      const answer = post(url)
      setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600), 10)
      expect((await answer).text).to.equal('{}')
    } finally {
      await target.terminate()
    }
  })

  it('waits for an answer for longer than any timer takes', async () => {
    await using server = await serve((_request, response) => setTimeout(() => response.end('{}'), 100))
    expect(await createAndSend(server.url, 1e12)).to.include({ text: '{}', failure: undefined })
  })

  it('names a timeout: no answer, and an answer that never ends', async () => {
    await using silent = await serve(() => undefined)
    await using endless = await serve((_request, response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    })
    for (const { url } of [silent, endless]) {
      expect((await post(url)).failure).to.deep.equal({ kind: 'timeout', message: 'no answer within 300 ms' })
    }
    expect(http.traffic).to.deep.equal({ requests: 2, timeouts: 2, unanswered: 2 })
  })

  it('reads no more of a body than it can use', async () => {
    await using server = await serve((_request, response) => {
      const chunk = Buffer.alloc(1 << 20, 'x')
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const answer = await createAndSend(server.url)
    expect(answer.text.length).to.be.within(8 << 20, 10 << 20)
    expect(answer.exchange.response?.body.length).to.equal(20_000)
    expect(answer.exchange.response?.truncated).to.equal(true)
  })

  async function createAndSend(url: string, timeoutMs = 10_000) {
    const patient = createHttpClient(timeoutMs)
    try {
      return await patient.send({ url, method: 'POST', headers: {}, body: '{}' })
    } finally {
      await patient.close()
    }
  }

  it('sends again over a new connection when a kept one is closed, but never what spends', async () => {
    await using server = await serve((request) => request.socket.destroy())
    expect((await post(server.url)).failure?.kind).to.equal('closed')
    expect(server.requests).to.have.length(2)
    expect((await post(server.url, { once: true })).failure?.kind).to.equal('closed')
    expect(server.requests).to.have.length(3)
  })

  it('sends what spends, and what it sends again, over connections that nothing was sent over before', async () => {
    const used = new Set<object>()
    await using server = await serve((request, response) => {
      // Keeps the connection, and closes it when something else comes over it.
      if (used.has(request.socket)) return void request.socket.destroy()
      used.add(request.socket)
      response.end('{}')
    })
    const several = () => Promise.all([1, 2, 3].map(() => post(server.url)))
    for (const answer of [...(await several()), ...(await several())]) expect(answer.status).to.equal(200)
    for (let sent = 0; sent < 3; sent++) expect((await post(server.url, { once: true })).status).to.equal(200)
  })

  it('tells a refused connection', async () => {
    const server = await serve(() => undefined)
    await server[Symbol.asyncDispose]()
    expect((await post(server.url)).failure?.kind).to.equal('refused')
  })
})
