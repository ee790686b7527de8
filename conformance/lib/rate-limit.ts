import type { Answer } from './answer.ts'

/** JSON-RPC's usual code for "limit exceeded" (EIP-1474). */
const limitExceeded = -32005
/** Where the target names no time: twice as long at each attempt, from this. */
const firstWaitMs = 1000
/** A `Retry-After` of zero is no reason to ask without a pause. */
const leastWaitMs = 200

/** Whether the body is the JSON-RPC error "limit exceeded". */
export function isLimitError(body: unknown): boolean {
  const error = (body as { error?: unknown } | null | undefined)?.error
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === limitExceeded
}

/** What `Retry-After` asks for, in ms (RFC 9110, 10.2.3): seconds, or a date by the clock of the target. */
function retryAfterMs({ headers }: Answer): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds)) return seconds * 1000
  const now = Date.parse(headers['date'] ?? '')
  const waitMs = Date.parse(text) - (Number.isNaN(now) ? Date.now() : now)
  return Number.isNaN(waitMs) ? undefined : waitMs
}

/** What an answer says of a rate limit. */
export interface RateLimit {
  readonly waitMs: number
  /** False where the answer may mean the one request instead: nodes use -32005 for too large a query as well. */
  readonly isCertain: boolean
}

/**
 * How long a rate limit asks to wait. The documents show no rate limits and so forbid none: HTTP 429, HTTP 503 with
 * `Retry-After`, and the JSON-RPC error -32005 are waited for.
 *
 * @param attempt how often the request has been limited before
 * @returns undefined when the answer tells of no rate limit
 */
export function rateLimitOf(answer: Answer, attempt: number): RateLimit | undefined {
  const { status, json } = answer
  const asked = retryAfterMs(answer)
  const isError = Array.isArray(json) ? json.some(isLimitError) : isLimitError(json)
  const isCertain = status === 429 || (asked !== undefined && (status === 503 || isError))
  if (!isCertain && !isError) return undefined
  return { waitMs: Math.max(asked ?? firstWaitMs * 2 ** attempt, leastWaitMs), isCertain }
}
