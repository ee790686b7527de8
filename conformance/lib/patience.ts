import type { Answer } from './answer.ts'

/** After a hash that the chain never came to know, others are waited for this long at most. */
const disappointedMs = 5000
/** A single rate limit is waited for this long at most. */
const longestWaitMs = 120_000

export interface PatienceOptions {
  /** For a transaction to be mined. */
  readonly receiptMs: number
  /** For all rate limits of the run together. */
  readonly rateLimitMs: number
  /** For a target that died to listen again. */
  readonly restartMs: number
  /** Between the last call that must not be executed and the last look for its effect; absent: 0. */
  readonly lingerMs?: number
}

/** How long the run waits for what; shared by the whole run, so that a target that keeps it waiting ends in time. */
export interface Patience {
  /** For a transaction to be mined, in ms. */
  receiptMs(): number
  /** The chain did not come to know a hash in all of that time. */
  disappointed(): void
  /** Whether a rate limit of so many ms may still be waited for; the time is then taken for spent. */
  mayWait(waitMs: number): boolean
  /** For a target that died to listen again, in ms. */
  readonly restartMs: number
  /** Between the last call that must not be executed and the last look for its effect, in ms. */
  readonly lingerMs: number
}

export function createPatience({ receiptMs, rateLimitMs, restartMs, lingerMs = 0 }: PatienceOptions): Patience {
  let receiptWaitMs = receiptMs
  let rateLimitLeftMs = rateLimitMs
  return {
    receiptMs: () => receiptWaitMs,
    disappointed() {
      receiptWaitMs = Math.min(receiptWaitMs, disappointedMs)
    },
    mayWait(waitMs) {
      if (waitMs > longestWaitMs || waitMs > rateLimitLeftMs) return false
      rateLimitLeftMs -= waitMs
      return true
    },
    restartMs,
    lingerMs,
  }
}

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
