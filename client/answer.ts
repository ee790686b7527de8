import { isKnownCode, RelayError } from './relay-error.ts'

/** A response, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The JSON object of a text; undefined when it is none. */
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

/** The error of an answer that refuses. What another relay says in its own form is UNKNOWN, with the text. */
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

/** Seconds until `Retry-After` (RFC 9110), which is in seconds or a date by the clock of the server. */
function retryAfterOf({ headers }: Answer): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - (serverTimeMs(headers) ?? Date.now())) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** The clock of the server in Unix milliseconds, by its header `Date`; undefined where a page may not read it. */
export function serverTimeMs(headers: Headers): number | undefined {
  const ms = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? undefined : ms
}
