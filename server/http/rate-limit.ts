import type { Context } from 'koa'
import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { ServiceError } from '../core/errors.ts'
import type { RateLimits, RateLimitState, RateLimitSubject } from '../services/rate-limits.ts'
import type { Exchange } from './fast-lane.ts'

/**
 * A body counts as one more request for each so many bytes: to parse them takes about a millisecond where they are all
 * fractions or lists.
 */
const BYTES_PER_REQUEST = 8 * 1024

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

/** What a request is counted by: an IPv4 address, or the /64 of an IPv6 address (`2001:db8:0:1::/64`). */
type ClientAddress = string

/**
 * The address that a request comes from. Of IPv6 the /64 counts: one subscriber has at least that much, and may use another
 * address of it for each request.
 *
 * @param trustedProxies how many proxies stand in front: the entry of `X-Forwarded-For` that the outermost of them wrote
 *   is believed; 0: none is. An entry that is no address (`unknown`, or what a client put there) is not believed either:
 *   then it is the proxy's
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trustedProxies: number,
): ClientAddress {
  const peer = addressOf(socket.remoteAddress ?? '') ?? 'unknown'
  if (trustedProxies === 0) return peer
  const entries = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
  return addressOf(entries.slice(-trustedProxies)[0] ?? '') ?? peer
}

/**
 * Normalises an address: without port, brackets and zone; an IPv4 address that is mapped into IPv6 as IPv4; IPv6 by its
 * /64.
 *
 * @returns undefined for what is no address
 */
export function addressOf(text: string): ClientAddress | undefined {
  const trimmed = text.trim()
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(trimmed)?.[1] ?? trimmed
  if (isIPv4(bare)) return bare
  const [address = ''] = bare.split('%')
  if (!isIPv6(address)) return undefined
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.')
  }
  const prefix = groups.slice(0, 4).map((group) => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** The eight groups of an IPv6 address, RFC 4291, 2.2. */
function groupsOf(address: string): readonly number[] {
  const dotted = /[\d.]+$/.exec(address)?.[0] ?? ''
  const bytes = dotted.includes('.') ? dotted.split('.').map(Number) : []
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const tail = ((a << 8) | b).toString(16) + ':' + ((c << 8) | d).toString(16)
  const hex = bytes.length === 0 ? address : address.slice(0, -dotted.length) + tail
  const [head = '', rest] = hex.split('::')
  const parse = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  if (rest === undefined) return parse(head)
  const [before, after] = [parse(head), parse(rest)]
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}
