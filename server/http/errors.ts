import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { errorCatalogue, type ErrorBody } from '../../specs/index.ts'
import { ServiceError } from '../core/errors.ts'
import { translateError } from '../services/node/translate-errors.ts'
import { databaseFault } from '../services/database/database-fault.ts'

/** What is away may be back at any time. */
const RETRY_SECONDS = 1

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
    if (ctx.status === 404) respond(ctx, new ServiceError('NOT_FOUND', `there is nothing at ${clip(ctx.path)}`))
    if (ctx.status === 405 || ctx.status === 501) {
      respond(ctx, new ServiceError('METHOD_NOT_ALLOWED', `${clip(ctx.path)} does not take ${ctx.method}`))
    }
  }
}

const clip = (path: string) => (path.length > 100 ? `${path.slice(0, 100)}…` : path)

/** Any thrown value as an error of the catalogue: INTERNAL is what neither a node nor the database is to blame for. */
export function toServiceError(thrown: unknown, log: Logger): ServiceError {
  const translated = translateError(thrown)
  if (translated instanceof ServiceError) return translated
  const fault = databaseFault(thrown)
  if (fault) {
    log.warn({ err: thrown }, 'the database does not work')
    return fault
  }
  log.error({ err: thrown }, 'unexpected error')
  return new ServiceError('INTERNAL', 'see the log of the service under the id of this request', { cause: thrown })
}

/** The same error as JSON-RPC tells it; codes that JSON-RPC does not know are told as RPC_SERVER_ERROR. */
export function toRpcError(error: ServiceError): RpcErrorObject {
  const code = errorCatalogue[error.code].rpcCode ?? errorCatalogue.RPC_SERVER_ERROR.rpcCode ?? -32000
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {}
  return { code, message: error.message, ...data }
}

/** Without an HTTP status are errors of nodes, as JSON-RPC tells them. */
function withStatus(error: ServiceError): ServiceError {
  if (errorCatalogue[error.code].status !== undefined || error.code === 'RPC_INTERNAL') return error
  const { message, details, broadcast } = error
  return new ServiceError('UPSTREAM_UNAVAILABLE', message, { details, broadcast, cause: error })
}

function respond(ctx: Context, thrown: ServiceError): void {
  const error = withStatus(thrown)
  const { code, message, details, broadcast } = error
  ctx.status = errorCatalogue[code].status ?? 500
  const retryAfterSeconds = error.retryAfterSeconds ?? (ctx.status === 503 ? RETRY_SECONDS : undefined)
  if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))))
  ctx.body = { code, message, details, broadcast } satisfies ErrorBody
}
