import type { Endpoint } from './endpoint.ts'
import { isKnownCode, messageOf, RelayError } from './relay-error.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** How often and how long a request is repeated. */
export interface Patience {
  /** The most requests, including the first one. */
  readonly attempts: number
  /** The longest wait for one answer. */
  readonly timeoutMs: number
  /** The longest time for all attempts and the pauses between them. */
  readonly deadlineMs: number
}

export interface PostOptions extends Patience {
  readonly fetch: Fetch
  readonly signal?: AbortSignal | undefined
  /** Absent: the request is a GET. A function makes the body anew for each attempt. */
  readonly body?: string | (() => Promise<string>)
}

/** The outcome of a request and its repetitions. */
export interface Reply {
  /** The last answer. Absent when none came. */
  readonly answer?: Answer
  /** The error of the last answer, or the error that no answer came. Absent on success. */
  readonly error?: RelayError | Error
  /** Whether some attempt got no answer, or one that does not say whether the call was sent. */
  readonly isLost: boolean
}

const FIRST_PAUSE_MS = 250
/** A timer that is set for longer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** Statuses of a proxy whose server does not answer. */
const GATEWAY_STATUSES: readonly number[] = [502, 503, 504]

/**
 * Sends a request until it is answered. The same request is repeated after a network error, a timeout, 502, 503 and
 * 504, and when the relay asks for it by `Retry-After`.
 *
 * @throws the reason of the signal
 */
export async function post(endpoint: Endpoint, options: PostOptions): Promise<Reply> {
  const { attempts, deadlineMs, signal } = options
  const endMs = performance.now() + deadlineMs
  let isLost = false
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const reply = await send(endpoint, options, endMs)
    signal?.throwIfAborted()
    isLost ||= reply.isLost
    const pauseMs = pauseAfter(reply, attempt)
    if (pauseMs === undefined || attempt >= attempts || performance.now() + pauseMs >= endMs)
      return { ...reply, isLost }
    await sleep(pauseMs, signal)
  }
}

async function send(
  { url, headers }: Endpoint,
  { fetch, body, signal, timeoutMs }: PostOptions,
  endMs: number,
): Promise<Reply> {
  const text = typeof body === 'function' ? await body() : body
  const limitMs = Math.max(1, Math.min(timeoutMs, endMs - performance.now(), LONGEST_TIMER_MS))
  // Not by AbortSignal.timeout and AbortSignal.any, which browsers of 2022 do not have.
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new Error(`no answer after ${Math.ceil(limitMs)} ms`)), limitMs)
  const stop = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  const init: RequestInit = {
    signal: ending.signal,
    ...(text === undefined
      ? { headers }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text }),
  }
  try {
    const response = await fetch(url, init)
    const answer = { status: response.status, headers: response.headers, text: await response.text() }
    if (response.ok) return { answer, isLost: false }
    const error = refusalOf(answer)
    return { answer, error, isLost: answer.status >= 500 && error.broadcast !== false }
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(messageOf(error), { cause: error }), isLost: true }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** The pause before the next attempt in milliseconds. Undefined when another attempt does not help. */
function pauseAfter({ answer, error }: Reply, attempt: number): number | undefined {
  if (!error) return undefined
  const backOffMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
  if (!answer || !('code' in error)) return backOffMs
  const { code, retryAfterSeconds } = error
  if (GATEWAY_STATUSES.includes(answer.status))
    return retryAfterSeconds === undefined ? backOffMs : retryAfterSeconds * 1000
  // When the quota is spent, Retry-After names the next period, for which nobody waits.
  const isForLater = answer.status === 429 && code !== 'QUOTA_EXCEEDED' && retryAfterSeconds !== undefined
  return isForLater ? retryAfterSeconds * 1000 : undefined
}

/** @throws the reason of the signal */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER_MS))
    signal?.addEventListener('abort', wake)
  })
  signal?.throwIfAborted()
}

/** An HTTP response whose body has been read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Parses a JSON object. @returns undefined when the text is none */
export function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const CLIPPED = 300

/**
 * Reads the error from an answer. An error in a form that is not the document's gets the code UNKNOWN, with its text.
 */
export function refusalOf(answer: Answer): RelayError {
  const { status, text } = answer
  const { code, message, details, broadcast } = objectOf(text) ?? {}
  const options = {
    status,
    broadcast: typeof broadcast === 'boolean' ? broadcast : undefined,
    retryAfterSeconds: retryAfterOf(answer),
  }
  if (isKnownCode(code)) {
    const words = typeof message === 'string' ? message : code
    return new RelayError(code, words, { ...options, details: isObject(details) ? details : {} })
  }
  const words = `the relay answers ${status}: ${text.slice(0, CLIPPED) || 'nothing'}`
  return new RelayError('UNKNOWN', words, { ...options, details: { text } })
}

/** Reads `Retry-After` (RFC 9110): seconds, or a date by the server's clock. @returns seconds from now */
function retryAfterOf({ headers }: Answer): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - (serverTimeMs(headers) ?? Date.now())) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/**
 * The server's time in Unix milliseconds, by its header `Date`. Undefined where a page may not read the header (CORS).
 */
export function serverTimeMs(headers: Headers): number | undefined {
  const ms = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
