import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../specs/index.ts'

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
export function createHttpServer({ limits, shutdown }: Pick<Config, 'limits' | 'shutdown'>): HttpServer {
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
