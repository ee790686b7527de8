import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../specs/index.ts'
import { addressOf } from './rate-limit.ts'

export interface HttpServer {
  /** @throws Error with code EADDRINUSE */
  listen(at: Pick<Config['listen'], 'host' | 'port'>, handle: RequestListener): Promise<AddressInfo>
  /** Whether the server is stopping. */
  isDraining(): boolean
  /**
   * Stops without losing a request. First `/readyz` says so while the server serves on, until load balancers use other
   * servers. Then it takes no new connections, answers the requests in flight, and cuts off those that take longer than
   * the grace time.
   */
  stop(): Promise<void>
}

/** How often the server looks for connections that have taken too long, in milliseconds. */
const CHECK_MS = 500
/** A connection without a byte for this time, in the middle of a request or an answer, is closed. */
const STALLED_MS = 120_000
/**
 * The most bytes that are kept in memory for one address: of bodies that have not come to their end, and of answers that it does
 * not read. 190 of the largest pages of logs.
 */
const HELD_BYTES_PER_ADDRESS = 128 * 1024 * 1024
/** The same for all addresses together, and behind a proxy, where all connections come from the proxy's address. */
const HELD_BYTES = 512 * 1024 * 1024
/** TCP probes an idle connection after this time, since the client may have vanished without closing it. */
const PROBE_MS = 30_000

/** The HTTP server in front of the app. It closes connections of clients that are slow or gone. */
export function createHttpServer({
  listen,
  limits,
  shutdown,
}: Pick<Config, 'listen' | 'limits' | 'shutdown'>): HttpServer {
  let draining = false
  const server = createServer({
    headersTimeout: Math.min(limits.headersSeconds, limits.requestSeconds) * 1000,
    requestTimeout: limits.requestSeconds * 1000,
    keepAliveTimeout: limits.keepAliveSeconds * 1000,
    connectionsCheckingInterval: CHECK_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
  })
  server.timeout = STALLED_MS
  server.maxConnections = limits.connections
  const sockets = new Set<Socket>()
  const isBehindProxy = listen.trustedProxies > 0
  if (!isBehindProxy) boundConnectionsPerAddress(server, limits.connectionsPerAddress)
  boundHeldBytes(server, sockets, isBehindProxy ? Infinity : HELD_BYTES_PER_ADDRESS)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  makeRoom(server, sockets, limits.connections)
  const inFlight = new Set<ServerResponse>()
  /** The server is about to close this connection, so the client must not send its next request over it. */
  const sayGoodbye = (response: ServerResponse) => response.setHeader('Connection', 'close')

  return {
    listen: async ({ host, port }, handle) => {
      server.on('request', (request, response) => {
        inFlight.add(response)
        response.once('close', () => inFlight.delete(response))
        if (draining) sayGoodbye(response)
        handle(request, response)
      })
      server.listen(port, host)
      await once(server, 'listening')
      return server.address() as AddressInfo
    },
    isDraining: () => draining,
    stop: async () => {
      draining = true
      for (const response of inFlight) if (!response.headersSent) sayGoodbye(response)
      if (shutdown.drainSeconds > 0) await sleep(shutdown.drainSeconds * 1000)
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      // To Node these are not idle, but in the middle of a request.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      // The headers of some answers have told the client that the connection is kept.
      for (const response of inFlight) response.once('close', () => server.closeIdleConnections())
      const timer = setTimeout(() => server.closeAllConnections(), shutdown.graceSeconds * 1000)
      await closed
      clearTimeout(timer)
    },
  }
}

/**
 * Closes the connection that has been idle for longest whenever there are as many as there may be. Clients keep their
 * connections for a minute after a request, and thousands of them must not shut out the next one.
 */
function makeRoom(server: Server, sockets: ReadonlySet<Socket>, most: number): void {
  const idle = new Set<Socket>()
  const answering = new WeakMap<Socket, number>()
  const change = (socket: Socket, by: number) => {
    const left = (answering.get(socket) ?? 0) + by
    answering.set(socket, left)
    if (left === 0 && !socket.destroyed) idle.add(socket)
    else idle.delete(socket)
  }
  server.on('request', ({ socket }, response) => {
    change(socket, 1)
    response.once('close', () => change(socket, -1))
  })
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => idle.delete(socket))
    const [longest] = idle
    if (sockets.size >= most) longest?.destroy()
  })
}

/**
 * Cuts off connections for which too much is kept: of an address the newest, of all together those for which most is kept,
 * so that a short request gets through.
 */
function boundHeldBytes(server: Server, sockets: ReadonlySet<Socket>, bytesPerAddress: number): void {
  const bodies = new WeakMap<Socket, { readonly request: IncomingMessage; readonly begunAt: number }>()
  server.on('request', (request) => bodies.set(request.socket, { request, begunAt: request.socket.bytesRead }))
  const heldBy = (socket: Socket) => {
    const body = bodies.get(socket)
    return socket.writableLength + (body && !body.request.complete ? socket.bytesRead - body.begunAt : 0)
  }
  const look = setInterval(() => {
    const byAddress = new Map<string, number>()
    const kept: { readonly socket: Socket; readonly bytes: number }[] = []
    let together = 0
    for (const socket of sockets) {
      const bytes = heldBy(socket)
      if (bytes === 0) continue
      const address = addressOf(socket.remoteAddress ?? '') ?? ''
      const sum = (byAddress.get(address) ?? 0) + bytes
      if (sum > bytesPerAddress) {
        socket.destroy()
        continue
      }
      byAddress.set(address, sum)
      kept.push({ socket, bytes })
      together += bytes
    }
    if (together <= HELD_BYTES) return
    for (const { socket, bytes } of kept.sort((one, other) => other.bytes - one.bytes)) {
      socket.destroy()
      together -= bytes
      if (together <= HELD_BYTES) return
    }
  }, CHECK_MS).unref()
  server.once('close', () => clearInterval(look))
}

/** Closes connections of an address beyond the most that one may have; 0: no limit. */
function boundConnectionsPerAddress(server: Server, most: number): void {
  if (most === 0) return
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket.remoteAddress ?? '') ?? ''
    const count = (open.get(address) ?? 0) + 1
    if (count > most) return void socket.destroy()
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}
