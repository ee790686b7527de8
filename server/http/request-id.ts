import { randomUUID } from 'node:crypto'
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

/** Gives every request an id: the caller's `X-Request-Id` where it is harmless, else a new one. */
export function requestId(log: Logger): Middleware {
  return async (ctx, next) => {
    const given = ctx.get('X-Request-Id')
    ctx.state.requestId = /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
    ctx.state.log = log.child({ requestId: ctx.state.requestId })
    ctx.set('X-Request-Id', ctx.state.requestId)
    await next()
  }
}
