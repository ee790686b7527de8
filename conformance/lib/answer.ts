import type { Exchange, ExchangeFailure } from './report-types.ts'

/** What became of one request: an answer of any kind, or the reason why there is none. */
export interface Answer {
  /** HTTP status; undefined when there is no answer. */
  readonly status: number | undefined
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text, cut at the cap of the HTTP client. */
  readonly text: string
  /**
   * The body as JSON; undefined when the body is no JSON. Integers above 2^53 have lost digits here: read them from
   * `text`.
   */
  readonly json: unknown
  /** Why there is no answer; undefined when there is one. */
  readonly failure: ExchangeFailure | undefined
  readonly durationMs: number
  readonly exchange: Exchange
}

/** The body as an object; undefined when the body is anything else. */
export function objectOf(answer: Answer): Readonly<Record<string, unknown>> | undefined {
  const { json } = answer
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Readonly<Record<string, unknown>>)
    : undefined
}

/** Whether the status is a 2xx. */
export function isSuccess(answer: Answer): boolean {
  return answer.status !== undefined && answer.status >= 200 && answer.status < 300
}

/** One line on the answer for a message: `401 {"code":…}`, or why there is no answer. */
export function describeAnswer(answer: Answer): string {
  if (answer.failure) return answer.failure.message
  const text = answer.text.replace(/\s+/g, ' ').trim()
  const short = text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text
  return `${answer.status} ${short === '' ? '(empty body)' : short}`
}

/** Status, content type and the beginning of the body, for an observation. */
export function summariseAnswer(answer: Answer): string {
  if (answer.failure) return answer.failure.message
  const type = answer.headers['content-type']?.split(';')[0] ?? 'no content type'
  const text = answer.text.replace(/\s+/g, ' ').trim()
  const body = text === '' ? 'empty body' : text.length > 120 ? `${text.slice(0, 120)}…` : text
  return `${answer.status} ${type} ${body}`
}
