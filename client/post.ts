import { refusalOf, type Answer } from './answer.ts'
import type { RelayError } from './relay-error.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** How long and how often a request is repeated. */
export interface Patience {
  /** Requests at most, the first one counted. */
  readonly attempts: number
  /** For one answer. */
  readonly timeoutMs: number
  /** For all attempts and the pauses between them. */
  readonly deadlineMs: number
}

export interface PostOptions extends Patience {
  readonly fetch: Fetch
  readonly signal?: AbortSignal | undefined
  /** Absent: GET. Given by a function: made anew for each attempt. */
  readonly body?: string | (() => Promise<string>)
}

/** What came of a request in the end. */
export interface Reply {
  /** The last answer; absent when none came. */
  readonly answer?: Answer
  /** What the last answer refuses with, or that there was none; absent on success. */
  readonly error?: RelayError | Error
  /** An attempt ended without an answer that says what was done about it. */
  readonly isLost: boolean
}

const FIRST_PAUSE_MS = 250
/** What a proxy says when nobody behind it answers. */
const GATEWAY_STATUSES: readonly number[] = [502, 503, 504]

/**
 * Sends a request until it is answered. It is repeated, as it is, after a network error, a timeout, 502, 503 and 504, and
 * when the relay asks for it by `Retry-After`.
 *
 * @throws the reason of the signal
 */
export async function post(url: string, options: PostOptions): Promise<Reply> {
  const { attempts, deadlineMs, signal } = options
  const endMs = performance.now() + deadlineMs
  let isLost = false
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const reply = await send(url, options, endMs)
    signal?.throwIfAborted()
    isLost ||= reply.isLost
    const pauseMs = pauseAfter(reply, attempt)
    if (pauseMs === undefined || attempt >= attempts || performance.now() + pauseMs >= endMs)
      return { ...reply, isLost }
    await sleep(pauseMs, signal)
  }
}

async function send(url: string, { fetch, body, signal, timeoutMs }: PostOptions, endMs: number): Promise<Reply> {
  const text = typeof body === 'function' ? await body() : body
  // Node takes whole milliseconds alone.
  const timeout = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(timeoutMs, endMs - performance.now()))))
  const init: RequestInit = {
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    ...(text !== undefined && { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }),
  }
  try {
    const response = await fetch(url, init)
    const answer = { status: response.status, headers: response.headers, text: await response.text() }
    if (response.ok) return { answer, isLost: false }
    const error = refusalOf(answer)
    return { answer, error, isLost: answer.status >= 500 && error.broadcast !== false }
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)), isLost: true }
  }
}

/** In milliseconds; undefined: to ask again does not help. */
function pauseAfter({ answer, error }: Reply, attempt: number): number | undefined {
  if (!error) return undefined
  const backOffMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
  if (!answer || !('code' in error)) return backOffMs
  const { code, retryAfterSeconds } = error
  if (GATEWAY_STATUSES.includes(answer.status))
    return retryAfterSeconds === undefined ? backOffMs : retryAfterSeconds * 1000
  // Of a spent quota, Retry-After leads to the next period.
  const isForLater = answer.status === 429 && code !== 'QUOTA_EXCEEDED' && retryAfterSeconds !== undefined
  return isForLater ? retryAfterSeconds * 1000 : undefined
}

/** @throws the reason of the signal */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = () => resolve()
  signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}
