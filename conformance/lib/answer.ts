import { parseLossless } from './lossless-json.ts'
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

/** Whether the target closed the connection in place of an answer, which may be its way to refuse. */
export function isHungUp({ failure }: Answer): boolean {
  return failure?.kind === 'closed'
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

/** An integer of this many digits, or one with an exponent, may have lost some of them in `Answer.json`. */
const longInteger = /[[{:,\s]-?(?:\d{16,}|\d+(?:\.\d+)?e)/i

/**
 * Whether the answer serves a JSON-RPC request: a 2xx status and an object with a result and without an error. The
 * document calls its one response "successful operation" and does not show the number of the status.
 */
export function isServed(answer: Answer): boolean {
  const body = objectOf(answer)
  return isSuccess(answer) && body !== undefined && 'result' in body && (body['error'] ?? null) === null
}

/** A member of the response object; undefined when there is none. Integers beyond 2^53 are bigints. */
export function memberOf(answer: Answer, name: 'id' | 'result'): unknown {
  const body = objectOf(answer)
  if (body === undefined || !longInteger.test(answer.text)) return body?.[name]
  return (parseLossless(answer.text, 'any') as Readonly<Record<string, unknown>>)[name]
}

/**
 * Whether the answer shows that the target supports the method: it serves the request with a result other than null.
 */
export function yieldsResult(answer: Answer): boolean {
  return isServed(answer) && hasResult(answer)
}

/** Whether the answer holds a result other than null, with any status. */
export function hasResult(answer: Answer): boolean {
  return (objectOf(answer)?.['result'] ?? null) !== null
}

/** The error member of a JSON-RPC response; undefined when it is absent or null. */
export function errorOf(answer: Answer): unknown {
  return objectOf(answer)?.['error'] ?? undefined
}

/** The code of the error object; undefined when there is none. */
export function errorCodeOf(answer: Answer): unknown {
  const error = errorOf(answer)
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
}

/** The text of a refusal without numbers and hashes, which differ between answers. */
export function wordsOf({ text }: Pick<Answer, 'text'>): string {
  return text.replace(/0x[0-9a-f]+|\d+/gi, '')
}
