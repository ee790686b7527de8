import { type Answer, describeAnswer, isSuccess, objectOf } from './answer.ts'
import { parseLossless } from './lossless-json.ts'
import { Untestable } from './outcome.ts'

/** Integers of so many digits may have lost some of them in `Answer.json`. */
const longInteger = /[[{:,\s]-?\d{16,}/

/**
 * Whether the answer is a served JSON-RPC request: a status of success, an object with a result and without an error.
 * The document calls the one response code "successful operation" and does not show its number.
 */
export function isServed(answer: Answer): boolean {
  const body = objectOf(answer)
  return isSuccess(answer) && body !== undefined && 'result' in body && (body['error'] ?? null) === null
}

/** A member of the response object, integers beyond 2^53 as bigints; undefined when there is none. */
export function memberOf(answer: Answer, name: 'id' | 'result'): unknown {
  const body = objectOf(answer)
  if (body === undefined || !longInteger.test(answer.text)) return body?.[name]
  return (parseLossless(answer.text) as Readonly<Record<string, unknown>>)[name]
}

/** The accepted twin of a refused request: what differs from it by one fault. @throws Untestable when it is refused */
export function requireServed(answer: Answer): void {
  if (!isServed(answer)) {
    throw new Untestable(`the same request without the fault is not served either: ${describeAnswer(answer)}`)
  }
}

/** Whether the method is supported, by this answer: it is served, with a result other than null. */
export function yieldsResult(answer: Answer): boolean {
  return isServed(answer) && hasResult(answer)
}

/** Whether the answer holds a result other than null, with whatever status. */
export function hasResult(answer: Answer): boolean {
  return (objectOf(answer)?.['result'] ?? null) !== null
}

/** The error member of a JSON-RPC response; undefined when there is none, or null. */
export function errorOf(answer: Answer): unknown {
  return objectOf(answer)?.['error'] ?? undefined
}

/** The code of the error object; undefined when there is none. */
export function errorCodeOf(answer: Answer): unknown {
  const error = errorOf(answer)
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
}
