import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../specs/index.ts'
import { addressOf } from './client-address.ts'

export interface HttpServer {
  /** @throws Error with code EADDRINUSE */
  listen(at: Pick<Config['listen'], 'host' | 'port'>, handle: RequestListener): Promise<AddressInfo>
  /** Whether the server is going away. */
  isDraining(): boolean
  /**
   * Goes away without a request lost: tells that it is not ready and serves on, until balancers have turned to other
   * servers; then takes no new connections, answers what is in flight, and cuts off what takes longer than the grace.
   */
  stop(): Promise<void>
}

/** How often connections are looked at for having taken too long. */
const CHECK_MS = 500
/** A connection over which no byte goes for so long, in the middle of a request or its answer, has nobody at its end. */
const STALLED_MS = 120_000
/** Idle connections are probed by TCP after this time: the other end may be gone without a word. */
const PROBE_MS = 30_000

/** The HTTP server in front of the app: slow clients, and those who have gone, do not hold what others need. */
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
  // Those of a proxy are all its own.
  if (listen.trustedProxies === 0) boundConnectionsPerAddress(server, limits.connectionsPerAddress)

  return {
    listen: async ({ host, port }, handle) => {
      server.on('request', (request, response) => {
        // The next request of a connection that is kept alive would meet its end.
        if (draining) response.setHeader('Connection', 'close')
        handle(request, response)
      })
      server.listen(port, host)
      await once(server, 'listening')
      return server.address() as AddressInfo
    },
    isDraining: () => draining,
    stop: async () => {
      draining = true
      if (shutdown.drainSeconds > 0) await sleep(shutdown.drainSeconds * 1000)
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), shutdown.graceSeconds * 1000)
      await closed
      clearTimeout(timer)
    },
  }
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
