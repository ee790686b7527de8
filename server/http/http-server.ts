import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../specs/index.ts'
import { boundConnections } from './connection-bounds.ts'

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
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  boundConnections(server, sockets, { ...limits, isBehindProxy: listen.trustedProxies > 0 })
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
