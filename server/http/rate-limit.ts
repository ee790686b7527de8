import type { Context } from 'koa'
import { ServiceError } from '../core/errors.ts'
import type { RateLimits, RateLimitState, RateLimitSubject } from '../services/rate-limits.ts'
import { clientAddress } from './client-address.ts'
import type { Exchange } from './fast-lane.ts'

/**
 * A body counts as one more request for each so many bytes: parsing takes time in proportion, and a filter for logs of
 * so many bytes is one call to the node.
 */
const BYTES_PER_REQUEST = 32 * 1024

/**
 * Counts the bytes of an unpacked body before it is parsed. A small body is counted with its request.
 *
 * @throws ServiceError RATE_LIMITED
 */
export async function countBytes(
  exchange: Pick<Exchange, 'context'>,
  limits: RateLimits,
  bytes: number,
): Promise<void> {
  const points = Math.floor(bytes / BYTES_PER_REQUEST)
  if (points > 0) await countRequests(exchange, limits, { points })
}

/**
 * Counts a request for the caller's address, or for a profile, and sets the `RateLimit-…` headers. Without a limit
 * nothing is counted, and Koa's context is not made.
 *
 * @param key a profile; absent: the address that the request comes from
 * @throws ServiceError RATE_LIMITED
 */
export async function countRequests(
  exchange: Pick<Exchange, 'context'>,
  limits: RateLimits,
  { subject = 'address', key, points = 1 }: { subject?: RateLimitSubject; key?: string; points?: number } = {},
): Promise<void> {
  if (!limits.isLimited(subject)) return
  const ctx = exchange.context()
  try {
    setHeaders(ctx, await limits.consume(subject, key ?? addressIn(ctx), points))
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') {
      setHeaders(ctx, error.details as unknown as RateLimitState)
      ctx.set('Retry-After', String(error.retryAfterSeconds))
    }
    throw error
  }
}

const addressIn = ({ req, app }: Context) => clientAddress(req, app.proxy ? app.maxIpsCount : 0)

function setHeaders(ctx: Context, state: RateLimitState | undefined): void {
  if (state === undefined) return
  ctx.set('RateLimit-Limit', String(state.limit))
  ctx.set('RateLimit-Remaining', String(state.remaining))
  ctx.set('RateLimit-Reset', String(state.resetSeconds))
}
