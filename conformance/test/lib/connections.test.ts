import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { type Dispatcher, request } from 'undici'
import { type Connections, createConnections } from '../../lib/connections.ts'

describe('the connections of a run', () => {
  let connections: Connections
  let server: Server
  let origin: string
  let opened: number

  beforeEach(async () => {
    connections = createConnections(5000)
    opened = 0
    // Answers after all have come that are sent together.
    server = createServer((incoming, outgoing) => {
      incoming.resume()
      incoming.once('end', () => setImmediate(() => outgoing.end('{}')))
    })
    server.on('connection', () => opened++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    await connections.close()
    server.closeAllConnections()
    server.close()
  })

  const ask = async (dispatcher: Dispatcher): Promise<string> => {
    const { body } = await request(origin, { method: 'POST', body: '{}', dispatcher })
    return body.text()
  }

  it('are kept for requests that follow each other, and are as many as there are requests at once', async () => {
    for (let sent = 0; sent < 10; sent++) expect(await connections.shared(ask)).to.equal('{}')
    expect(opened).to.equal(1)
    await Promise.all([1, 2, 3, 4].map(() => connections.shared(ask)))
    expect(opened).to.equal(4)
  })

  it('are let go of before one is opened for a request alone', async () => {
    server.maxConnections = 3
    for (let round = 0; round < 5; round++) {
      await Promise.all([connections.shared(ask), connections.shared(ask), connections.shared(ask)])
      expect(await connections.alone(origin, ask)).to.equal('{}')
    }
  })

  it('serve what was closed one after the other, where the target takes one connection', async () => {
    server.maxConnections = 1
    let closed = 0
    const send = () =>
      connections.shared(ask).catch(() => {
        closed++
        return connections.last(origin, ask)
      })
    for (let round = 0; round < 5; round++) {
      expect(await Promise.all([send(), send(), send(), send()])).to.deep.equal(['{}', '{}', '{}', '{}'])
      expect(await connections.alone(origin, ask)).to.equal('{}')
    }
    expect(closed).to.be.greaterThan(0)
  })

  it('are given up where the target never closes its end', async () => {
    const sockets = new Set<Socket>()
    const open = createTcpServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket)
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'))
    }).listen(0, '127.0.0.1')
    await once(open, 'listening')
    origin = `http://127.0.0.1:${(open.address() as AddressInfo).port}`
    try {
      for (let round = 0; round < 2; round++) {
        expect(await connections.shared(ask)).to.equal('{}')
        expect(await connections.alone(origin, ask)).to.equal('{}')
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      open.close()
    }
  })
})
