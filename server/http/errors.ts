import type { ServerResponse } from 'node:http'
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import { errorCatalogue, type ErrorBody } from '../../specs/index.ts'
import { ServiceError } from '../core/errors.ts'
import { translateError } from '../services/node/upstream.ts'
import { databaseFault } from '../services/database/postgres-pool.ts'

/** What is unavailable may be back at any time, so a caller may try again after this time. */
const RETRY_SECONDS = 1

/** A JSON-RPC error object. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/**
 * The one place where errors become responses. An error that is not in the catalogue is the server's own fault: it is
 * logged in full, and answered as INTERNAL without details.
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
    // The router sets only a status when there is no route for the path, or none for the verb.
    if (ctx.status === 404) respond(ctx, new ServiceError('NOT_FOUND', `there is nothing at ${clip(ctx.path)}`))
    if (ctx.status === 405 || ctx.status === 501) {
      respond(ctx, new ServiceError('METHOD_NOT_ALLOWED', `${clip(ctx.path)} does not take ${ctx.method}`))
    }
  }
}

const clip = (path: string) => (path.length > 100 ? `${path.slice(0, 100)}…` : path)

/** Turns any thrown value into an error of the catalogue: INTERNAL when neither a node nor the database has failed. */
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

/** The same error in the form of JSON-RPC. Codes of the catalogue that JSON-RPC lacks become RPC_SERVER_ERROR. */
export function toRpcError(error: ServiceError): RpcErrorObject {
  const code = errorCatalogue[error.code].rpcCode ?? errorCatalogue.RPC_SERVER_ERROR.rpcCode ?? -32000
  const data = Object.keys(error.details).length > 0 ? { data: error.details } : {}
  return { code, message: error.message, ...data }
}

/** Errors of nodes have a JSON-RPC code and no HTTP status: here they get one. */
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
  setRetryAfter(ctx.res, retryAfterSeconds)
  ctx.body = { code, message, details, broadcast } satisfies ErrorBody
}

/** Tells the caller when to come again, if that is known. */
export function setRetryAfter(response: ServerResponse, seconds: number | undefined): void {
  if (seconds === undefined || response.headersSent) return
  response.setHeader('Retry-After', String(Math.max(1, Math.ceil(seconds))))
}
