import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { ServiceError } from '../../core/errors.ts'
import { readBody, readJson } from '../../http/body.ts'
import { incoming } from '../support/incoming.ts'
import { countingTurns } from '../support/turns.ts'

const LIMIT = 1000

/** What became of one request: the body's length, or the code of the refusal. */
type Outcome = number | string

describe('readBody', () => {
  let server: Server
  let outcomes: Outcome[]
  let seen: (outcome: Outcome) => void
  let next: Promise<Outcome>
  let receivedBytes = 0

  const read = async (request: IncomingMessage): Promise<Outcome> => {
    try {
      const timeoutMs = Number(request.headers['x-timeout-ms'] ?? 60_000)
      const limitBytes = Number(request.headers['x-limit-bytes'] ?? LIMIT)
      return (await readBody(request, { limitBytes, timeoutMs })).length
    } catch (error) {
      if (error instanceof ServiceError) return error.code
      throw error
    }
  }

  before(async () => {
    server = createServer((request, response) => {
      void read(request).then((outcome) => {
        receivedBytes = request.socket.bytesRead
        outcomes.push(outcome)
        seen(outcome)
        response.end(String(outcome))
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(() => {
    outcomes = []
    next = new Promise((resolve) => (seen = resolve))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  async function open(head: string): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
    return socket
  }

  it('reads a body that comes in pieces', async () => {
    const socket = await open('Content-Length: 6')
    socket.write('abc')
    await new Promise((resolve) => setImmediate(resolve))
    socket.write('def')
    expect(await next).to.equal(6)
    socket.destroy()
  })

  it('refuses a body of pieces that cost more than they hold', async () => {
    const socket = await open('Transfer-Encoding: chunked\r\nX-Limit-Bytes: 1000000')
    socket.write('1\r\na\r\n'.repeat(2000))
    expect(await next).to.equal('INVALID_REQUEST')
    socket.destroy()
  })

  it('takes many pieces of some size', async () => {
    const socket = await open('Transfer-Encoding: chunked\r\nX-Limit-Bytes: 1000000')
    socket.write(`64\r\n${'a'.repeat(100)}\r\n`.repeat(2000))
    socket.write('0\r\n\r\n')
    expect(await next).to.equal(200_000)
    socket.destroy()
  })

  it('leaves the event loop to others between long bodies that are there at once', async () => {
    const long = JSON.stringify('x'.repeat(20_000))
    const turnsOf = (pieces: readonly string[]) =>
      countingTurns((turn) =>
        Promise.all(
          Array.from({ length: 10 }, async () => {
            await readJson(incoming(...pieces), { bodyBytes: 100_000, nestingDepth: 2 })
            return turn()
          }),
        ),
      )
    for (const pieces of [[long], [long.slice(0, 9), long.slice(9)]]) {
      expect(new Set(await turnsOf(pieces))).to.have.property('size', 10)
    }
    expect(new Set(await turnsOf(['"short"']))).to.have.property('size', 1)
  })

  it('reads no further than the limit, whatever the sender announced', async () => {
    const socket = await open('Transfer-Encoding: chunked')
    const chunk = 'x'.repeat(600)
    for (let index = 0; index < 2; index++) socket.write(`258\r\n${chunk}\r\n`)
    expect(await next).to.equal('PAYLOAD_TOO_LARGE')
    socket.destroy()
  })

  it('refuses a large announcement without waiting for the body', async () => {
    const socket = await open('Content-Length: 10000000000')
    expect(await next).to.equal('PAYLOAD_TOO_LARGE')
    expect(receivedBytes).to.be.lessThan(200)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).to.contain('PAYLOAD_TOO_LARGE')
    socket.destroy()
  })

  it('lets the sender of a large body finish and read the answer', async () => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(10_000_000),
    })
    expect(await response.text()).to.equal('PAYLOAD_TOO_LARGE')
  })

  it('cuts off who sends on and on after the refusal', async () => {
    const socket = await open('Content-Length: 10000000000')
    await next
    const closed = new Promise((resolve) => socket.on('close', resolve))
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    const pump = () => {
      while (!socket.destroyed && sent < 200) {
        sent++
        if (!socket.write(chunk)) return void socket.once('drain', pump)
      }
    }
    pump()
    await closed
    expect(sent).to.be.lessThan(200)
  })

  it('gives up on a body that breaks off', async () => {
    const socket = await open('Content-Length: 100')
    socket.write('abc')
    socket.destroy()
    expect(await next).to.equal('INVALID_REQUEST')
  })

  it('gives up on a body that comes too slowly', async () => {
    const socket = await open('Content-Length: 100\r\nX-Timeout-Ms: 50')
    socket.write('abc')
    expect(await next).to.equal('INVALID_REQUEST')
    socket.destroy()
  })

  it('takes no harm from a connection that breaks after the body', async () => {
    const socket = await open('Content-Length: 3')
    socket.write('abc')
    expect(await next).to.equal(3)
    socket.resetAndDestroy()
    await new Promise((resolve) => setImmediate(resolve))
    expect(outcomes).to.deep.equal([3])
  })
})
