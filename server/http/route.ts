import type { Middleware } from 'koa'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'

/**
 * One path of the service; served below each of `listen.basePaths` (`/execute`, `/api/execute`), with slashes doubled
 * too.
 */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The route counts its requests itself, or they cost next to nothing. Requests of all other routes are counted. */
  readonly isUncounted?: true
  /** Also served at the root: a container's health check asks the process itself, and knows no base path. */
  readonly isProbe?: true
  /** Throws a ServiceError for every refusal. */
  readonly handle: Middleware
}

declare module 'koa' {
  interface DefaultState {
    /** Names the request in the response, in the log, and in the jobs that it causes. */
    requestId: string
    /** The server's log, bound to the request's id. */
    log: Logger
    /** Path of the route that took the request; absent where there is none. */
    route?: string
  }
}

/** The id and the logger of one request. Most requests log nothing, so the logger is made when it is first read. */
export class RequestState {
  readonly requestId: string
  route?: string
  readonly #serverLog: Logger
  #log: Logger | undefined

  /** Takes the caller's `X-Request-Id` when it is harmless, else makes a new one. */
  constructor(request: IncomingMessage, serverLog: Logger) {
    const given = request.headers['x-request-id']
    this.requestId = typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
    this.#serverLog = serverLog
  }

  get log(): Logger {
    return (this.#log ??= this.#serverLog.child({ requestId: this.requestId }))
  }
}

/** Gives every request an id, and sends it back as `X-Request-Id`. */
export function requestId(log: Logger): Middleware {
  return (ctx, next) => {
    const state = new RequestState(ctx.req, log)
    ctx.state = state
    ctx.res.setHeader('X-Request-Id', state.requestId)
    return next()
  }
}
/** For answers that are data. Pages add what they need. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
}
