import { type Answer, errorCodeOf } from './answer.ts'
import { Untestable } from './outcome.ts'
import { ourTimeMs } from './world.ts'

/** After the chain did not come to know one hash, the run waits this long at most for others. */
const disappointedMs = 5000
/** The run waits this long at most for one rate limit. */
const longestWaitMs = 120_000

interface PatienceOptions {
  /** How long to wait until a transaction is mined. */
  readonly receiptMs: number
  /** How long to wait for all rate limits of the run together. */
  readonly rateLimitMs: number
  /** How long to wait until a target that died listens again. */
  readonly restartMs: number
  /** How long to wait between the last call that must not be executed and the last look for its effect; absent: 0. */
  readonly lingerMs?: number
}

/**
 * How long the run waits for what. All checks share it, so that a target that keeps the run waiting does not keep it
 * for ever.
 */
export interface Patience {
  /** How long to wait until a transaction is mined, in ms. */
  receiptMs(): number
  /** Says that the chain did not come to know a hash in all of that time. */
  disappointed(): void
  /**
   * Whether the run may still wait this long for a rate limit. The answer `true` takes the time from the run's
   * budget.
   */
  mayWait(waitMs: number): boolean
  /** How long to wait until a target that died listens again, in ms. */
  readonly restartMs: number
  /** How long to wait between the last call that must not be executed and the last look for its effect, in ms. */
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

/** JSON-RPC's usual code for "limit exceeded" (EIP-1474), and HTTP's. */
const limitCodes: readonly unknown[] = [-32005, 429]
/** What services say with other codes. */
const limitWords =
  /rate.?limit|request limit|\brps\b|too many requests?|throttl|\bHTTP 429\b|compute units|(?:requests|calls) (?:per|a) (?:second|minute)/i
/** What a refusal says of its reason is short, in characters. A page that explains limits is longer. */
export const longestWords = 1000
/** The first wait where the target names no time. Each further wait is twice as long. */
const firstWaitMs = 1000
/** The shortest wait, also for a `Retry-After` of zero. */
const leastWaitMs = 200

/** Whether the body says in a few words that there is a limit on requests. */
export function saysLimit({ text }: Answer): boolean {
  return text.length <= longestWords && limitWords.test(text)
}

/** Whether the body is a JSON-RPC error that tells of a limit, by its code or in words. */
export function isLimitError(body: unknown): boolean {
  const error = (body as { error?: unknown } | null | undefined)?.error
  if (typeof error === 'string') return limitWords.test(error)
  if (typeof error !== 'object' || error === null) return false
  const { code, message } = error as { code?: unknown; message?: unknown }
  return limitCodes.includes(code) || (typeof message === 'string' && limitWords.test(message))
}

/** Codes of errors that are about the request itself: JSON-RPC 2.0, and 3 for a call that reverts. */
const lastingCodes: readonly unknown[] = [-32700, -32600, -32601, -32602, 3]

/** Whether the answer is a JSON-RPC error that may be gone when the request comes again. */
export function isPassingError(answer: Answer): boolean {
  if (isLimitError(answer.json)) return true
  const code = errorCodeOf(answer)
  return code !== undefined && !lastingCodes.includes(code) && retryAfterMs(answer) !== undefined
}

/** The wait that `Retry-After` asks for, in ms (RFC 9110, 10.2.3): seconds, or a date by the target's clock. */
export function retryAfterMs({ headers }: Answer): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds)) return seconds * 1000
  const now = Date.parse(headers['date'] ?? '')
  const waitMs = Date.parse(text) - (Number.isNaN(now) ? ourTimeMs() : now)
  return Number.isNaN(waitMs) ? undefined : waitMs
}

/** What the page of a firewall says to a client that it has shut out. */
const blockWords = /\bblocked\b|\bbanned\b|attention required|access denied|unusual traffic|just a moment/i

/** Whether the answer is the page by which a firewall in front of the service shuts a client out, often for a while. */
export function isBlockPage({ status, headers, text }: Answer): boolean {
  const isPage = headers['content-type']?.startsWith('text/html') ?? /^\s*<(?:!doctype|html)/i.test(text)
  return status === 403 && isPage && blockWords.test(text)
}

/** What an answer says of a rate limit. */
interface RateLimit {
  readonly waitMs: number
  /** False where the answer may be about the one request: nodes answer -32005 to too large a query as well. */
  readonly isCertain: boolean
  /** True where the service may be down: it answers 503 and names no time. */
  readonly isGuess: boolean
  /** True for the page of a firewall: it may be all that the target ever answers. */
  readonly isPage: boolean
}

/** Statuses that ask for a credential. `Retry-After` beside them says when to come back with one. */
const credentialStatuses = [401, 407]

/**
 * How long a rate limit asks the client to wait. The documents show no rate limits, so a target may have one. The run waits
 * for HTTP 429, for HTTP 503 with `Retry-After`, and for JSON-RPC errors that tell of a limit. Other errors with
 * `Retry-After`, of JSON-RPC too, or with the words of a limit, HTTP 503 without them, and the page of a firewall may be a
 * rate limit.
 *
 * @param attempt how often the target has limited this request before
 * @returns undefined when the answer tells of no rate limit
 */
export function rateLimitOf(answer: Answer, attempt: number): RateLimit | undefined {
  const { status, json } = answer
  const asked = retryAfterMs(answer)
  const isRefusal = status !== undefined && status >= 400 && !credentialStatuses.includes(status)
  const isError = Array.isArray(json) ? json.some(isLimitError) : isLimitError(json)
  const isCertain = status === 429 || (asked !== undefined && (status === 503 || isError))
  const isGuess = status === 503 && asked === undefined && !isError
  const isPage = isBlockPage(answer)
  const mayBeLimit = isRefusal && (asked !== undefined || isGuess || isPage || saysLimit(answer))
  if (!isCertain && !isError && !mayBeLimit && !isPassingError(answer)) return undefined
  return { waitMs: Math.max(asked ?? firstWaitMs * 2 ** attempt, leastWaitMs), isCertain, isGuess, isPage }
}

/** What the run may cost the relay, and what it has cost. One check sees the account of the run through this. */
export interface Spending {
  /**
   * Must be called before any request that the target could turn into a transaction.
   *
   * @throws Untestable when the run may send no more of these
   */
  ask(): void
  /** Records a transaction that the target says it sent. */
  caused(hash: string): void
  /** Records a request without an answer that could have spent. It counts as spent. */
  unknown(): void
}

/** The account of a whole run. */
export interface SpendingAccount {
  /** What one check sees of the account. */
  of(clause: string): Spending
  readonly transactions: readonly { readonly hash: string; readonly clause: string }[]
}

/** @param maxTransactions the run sends nothing that spends after this many transactions */
export function createSpending({
  readOnly,
  maxTransactions,
}: {
  readOnly: boolean
  maxTransactions: number
}): SpendingAccount {
  const transactions: { hash: string; clause: string }[] = []
  const hashes = new Set<string>()
  let unanswered = 0
  return {
    transactions,
    of: (clause) => ({
      ask() {
        if (readOnly) throw new Untestable('read-only: the run sends nothing that could spend')
        if (transactions.length + unanswered >= maxTransactions) {
          throw new Untestable(`the budget of ${maxTransactions} transactions is used up (--max-transactions)`)
        }
      },
      caused(hash) {
        if (hashes.has(hash)) return
        hashes.add(hash)
        transactions.push({ hash, clause })
      },
      unknown() {
        unanswered++
      },
    }),
  }
}
