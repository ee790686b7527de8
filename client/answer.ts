import { isKnownCode, RelayError } from './relay-error.ts'

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
