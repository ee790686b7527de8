import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'

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

/** What belongs to one request. Most requests have nothing to say: the log is bound only when they do. */
export class RequestState {
  readonly requestId: string
  route?: string
  readonly #serverLog: Logger
  #log: Logger | undefined

  /** The caller's `X-Request-Id` where it is harmless, else a new one. */
  constructor(request: IncomingMessage, serverLog: Logger) {
    const given = request.headers['x-request-id']
    this.requestId = typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
    this.#serverLog = serverLog
  }

  get log(): Logger {
    return (this.#log ??= this.#serverLog.child({ requestId: this.requestId }))
  }
}

/** Gives every request an id, and tells it. */
export function requestId(log: Logger): Middleware {
  return (ctx, next) => {
    const state = new RequestState(ctx.req, log)
    ctx.state = state
    ctx.res.setHeader('X-Request-Id', state.requestId)
    return next()
  }
}
