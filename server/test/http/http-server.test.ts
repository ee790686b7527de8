import { expect } from 'chai'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseConfig } from '../../config/load.ts'
import { createHttpServer, type HttpServer } from '../../http/http-server.ts'
import { lasting } from '../support/lasting.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024

interface Running extends HttpServer {
  readonly port: number
  readonly url: string
}

describe('createHttpServer', () => {
  let server: Running
  let sockets: Socket[]
  /** Requests whose connection was closed before their answer was written. */
  let cutOff: number

  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  })

  /** A server that answers with what it is sent. Of `/slow` it holds back the answer, of `/half` the second half of it. */
  async function start(config: object, release: Promise<void> = Promise.resolve()): Promise<Running> {
    ;[sockets, cutOff] = [[], 0]
    const tree = { chain: { rpcUrls: ['http://127.0.0.1:9'] }, shutdown: { graceSeconds: 1 }, ...config }
    const created = createHttpServer(parseConfig(tree, 'test', process.cwd()))
    const { port } = await created.listen({ host: '127.0.0.1', port: 0 }, (request, response) => {
      response.once('close', () => response.writableFinished || cutOff++)
      void (async () => {
        const body = await text(request)
        if (request.url === '/half') response.write(body.slice(0, body.length / 2))
        if (request.url !== '/') await release
        if (request.url === '/half') return response.end(body.slice(body.length / 2))
        response.end(body)
      })().catch(() => response.destroy())
    })
    server = { ...created, port, url: `http://127.0.0.1:${port}` }
    return server
  }

  function open(): Socket {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    return socket
  }

  /** What comes until the other side closes. */
  const untilClosed = (socket: Socket) => text(socket).catch(() => '')

  const ask = async (body: string, path = '/') => (await fetch(`${server.url}${path}`, { method: 'POST', body })).text()

  it('cuts off who sends nothing, or a request without end, and answers the others meanwhile', async () => {
    await start({ limits: { headersSeconds: 1, requestSeconds: 2 } })
    const silent = open()
    const headless = open()
    headless.write('POST / HTTP/1.1\r\nHost: a\r\nX-Header: ')
    const halfABody = open()
    halfABody.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx')
    const endless = open()
    endless.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n')
    const dribble = setInterval(() => endless.write('x'), 100)
    // Far from what Node does by itself.
    const closed = Promise.all([
      lasting([900, 5_000], () => untilClosed(silent)),
      lasting([900, 5_000], () => untilClosed(headless)),
      lasting([1_900, 10_000], () => untilClosed(halfABody)),
      lasting([1_900, 10_000], () => untilClosed(endless)),
    ])
    let asked = 0
    let isOver = false
    const normal = (async () => {
      for (; !isOver; asked++) expect(await ask(String(asked))).to.equal(String(asked))
    })()
    const [, toHeadless, toHalfABody, toEndless] = await closed
    clearInterval(dribble)
    isOver = true
    await normal

    expect(toHeadless).to.match(/^HTTP\/1\.1 408 /)
    expect(toHalfABody).to.match(/^HTTP\/1\.1 408 /)
    // Who is still sending may meet a reset in place of the answer.
    expect(toEndless).to.match(/^(HTTP\/1\.1 408 |$)/)
    expect(asked).to.be.greaterThan(10)
  })

  it('keeps a connection without a request as long as is configured', async () => {
    await start({ limits: { keepAliveSeconds: 1 } })
    const socket = open()
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
    // Node adds a second: a client that believes the announced time is not cut off.
    const answer = await lasting([900, 4_500], () => untilClosed(socket))
    expect(answer)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.include('hi')
  })

  it('closes connections beyond the most that there may be', async () => {
    await start({ limits: { connections: 3 } })
    const kept = [open(), open(), open()]
    await Promise.all(kept.map((socket) => once(socket, 'connect')))
    expect(await untilClosed(open())).to.equal('')
    kept[0]?.end('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi')
    expect(await untilClosed(kept[0] as Socket)).to.include('hi')
    expect(await ask('again')).to.equal('again')
  })

  it('closes the connection that has been idle for longest when there are as many as there may be', async () => {
    const released = Promise.withResolvers<void>()
    await start({ limits: { connections: 4, keepAliveSeconds: 3_600 } }, released.promise)
    const ended: string[] = []
    const keep = async (name: string, path = '/', requests = 1): Promise<Socket> => {
      const socket = open().on('close', () => ended.push(name))
      const request = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi`
      socket.write(request.replace(path, '/') + request.repeat(requests - 1))
      await once(socket, 'data')
      return socket
    }
    // Of two requests at once, the first is answered.
    const busy = await keep('busy', '/slow', 2)
    const first = await keep('first')
    await keep('second')
    first.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
    await once(first, 'data')
    for (const name of ['third', 'fourth', 'fifth']) await keep(name)
    await until(() => ended.length >= 3)
    expect(ended).to.deep.equal(['second', 'first', 'third'])
    released.resolve()
    expect(String(await once(busy, 'data'))).to.include('hi')
  })

  it('makes no room for a connection that its address may not have', async () => {
    await start({ limits: { connections: 3, connectionsPerAddress: 2 } })
    const kept = [open(), open()]
    for (const socket of kept) {
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
      await once(socket, 'data')
    }
    expect(await untilClosed(open())).to.equal('')
    for (const socket of kept) {
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
      expect(String(await once(socket, 'data'))).to.include('hi')
    }
  })

  it('closes connections of one address beyond the most that it may have, except behind a proxy', async () => {
    await start({ limits: { connectionsPerAddress: 2 } })
    const kept = [open(), open()]
    await Promise.all(kept.map((socket) => once(socket, 'connect')))
    expect(await untilClosed(open())).to.equal('')
    kept[0]?.end('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi')
    expect(await untilClosed(kept[0] as Socket)).to.include('hi')
    expect(await ask('again')).to.equal('again')
    kept[1]?.destroy()
    await server.stop()

    await start({ listen: { trustedProxies: 1 }, limits: { connectionsPerAddress: 1 } })
    open()
    expect(await ask('one of many')).to.equal('one of many')
  })

  const held: [string, number][] = [
    ['answers that it does not read', 0],
    ['bodies that it does not end', 1],
  ]
  for (const [name, missingBytes] of held) {
    it(`keeps 128 MiB for an address at most, of ${name}`, async () => {
      await start({ limits: { requestSeconds: 120 } })
      const body = Buffer.alloc(40 * MIB, 'x')
      for (let times = 0; times < 6; times++) {
        const socket = open()
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length + missingBytes}\r\n\r\n`)
        socket.write(body)
      }
      await until(() => cutOff >= 3)
      expect(await ask('from the same address')).to.equal('from the same address')
      expect(cutOff).to.equal(3)
    })
  }

  it('keeps 512 MiB for all at most, also behind a proxy, and cuts off those for which most is kept', async () => {
    await start({ listen: { trustedProxies: 1 }, limits: { requestSeconds: 120 } })
    const body = Buffer.alloc(90 * MIB, 'x')
    /** Sends all but the last byte. */
    const sendPart = (bytes: number) => {
      const socket = open()
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bytes + 1}\r\n\r\n`)
      socket.write(body.subarray(0, bytes))
      return socket
    }
    for (let times = 0; times < 8; times++) sendPart(body.length)
    const short = sendPart(MIB)
    await until(() => cutOff >= 3)
    short.end('y')
    expect(await untilClosed(short)).to.include('xy')
    expect(cutOff).to.equal(3)
  })

  it('serves on while it drains, says goodbye on every connection, and then takes no more', async () => {
    await start({ shutdown: { drainSeconds: 1, graceSeconds: 1 } })
    expect(server.isDraining()).to.equal(false)
    const stopped = server.stop()
    expect(server.isDraining()).to.equal(true)
    const answer = await fetch(server.url, { method: 'POST', body: 'late' })
    expect(await answer.text()).to.equal('late')
    expect(answer.headers.get('connection')).to.equal('close')
    await stopped
    expect(await ask('too late').catch(() => 'refused')).to.equal('refused')
  })

  it('answers what is in flight, and has stopped then, though clients would keep their connections', async () => {
    const released = Promise.withResolvers<void>()
    await start({ shutdown: { graceSeconds: 3_600 }, limits: { keepAliveSeconds: 3_600 } }, released.promise)
    const inFlight = ['/slow', '/half'].map((path) =>
      fetch(`${server.url}${path}`, { method: 'POST', body: 'in flight' }),
    )
    await inFlight[1]
    await once(open(), 'connect')
    await until200(server.url)
    const stopped = server.stop()
    released.resolve()
    const answers = await Promise.all(inFlight)
    expect(answers.map(({ headers }) => headers.get('connection'))).to.deep.equal(['close', 'keep-alive'])
    expect(await Promise.all(answers.map((answer) => answer.text()))).to.deep.equal(['in flight', 'in flight'])
    await stopped
  })

  it('cuts off what takes longer than the grace', async () => {
    await start({ shutdown: { graceSeconds: 1 } }, sleep(60_000, undefined, { ref: false }))
    const hopeless = ask('hopeless', '/slow').catch(() => 'cut off')
    await until200(server.url)
    await server.stop()
    expect(await hopeless).to.equal('cut off')
  })
})

/** What was sent before has arrived when this is answered. */
async function until200(url: string): Promise<void> {
  expect((await fetch(url, { method: 'POST', body: '' })).status).to.equal(200)
}
