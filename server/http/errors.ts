import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { errorCatalogue, type ErrorCode } from '../../specs/index.ts'
import { ServiceError } from '../core/errors.ts'

/** Body of every failed request outside of JSON-RPC. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** False whenever no transaction was sent: a client may safely fall back. */
  readonly broadcast: boolean
}

/** A JSON-RPC error object. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The place where errors become responses. What is not in the catalogue is our own fault: logged in full, answered as
 * INTERNAL without a word about the inside.
 */
export function errorResponses(log: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      respond(ctx, toServiceError(thrown, log))
      return
    }
    if (ctx.body !== undefined || ctx.method === 'OPTIONS') return
    // What the router says by status alone: no route, or none for this verb.
    if (ctx.status === 404) respond(ctx, new ServiceError('NOT_FOUND', `there is nothing at ${ctx.path}`))
    if (ctx.status === 405 || ctx.status === 501) {
      respond(ctx, new ServiceError('METHOD_NOT_ALLOWED', `${ctx.path} does not take ${ctx.method}`))
    }
  }
}

/** Any thrown value as an error of the catalogue. */
export function toServiceError(thrown: unknown, log: Logger): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  log.error({ err: thrown }, 'unexpected error')
  return new ServiceError('INTERNAL', 'see the log of the service under the id of this request', { cause: thrown })
}

/** The same error as JSON-RPC tells it; codes that JSON-RPC does not know are told as RPC_SERVER_ERROR. */
export function toRpcError(error: ServiceError): RpcErrorObject {
  const code = errorCatalogue[error.code].rpcCode ?? errorCatalogue.RPC_SERVER_ERROR.rpcCode ?? -32000
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {}
  return { code, message: error.message, ...data }
}

function respond(ctx: Context, error: ServiceError): void {
  const { code, message, details, broadcast, retryAfterSeconds } = error
  ctx.status = errorCatalogue[code].status ?? 500
  if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  ctx.body = { code, message, details, broadcast } satisfies ErrorBody
}
