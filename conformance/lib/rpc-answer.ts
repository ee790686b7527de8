import { type Answer, describeAnswer, isSuccess, objectOf } from './answer.ts'
import { parseLossless } from './lossless-json.ts'
import { Untestable } from './outcome.ts'

/** An integer of this many digits may have lost some of them in `Answer.json`. */
const longInteger = /[[{:,\s]-?\d{16,}/

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
  return (parseLossless(answer.text) as Readonly<Record<string, unknown>>)[name]
}

/**
 * Makes sure that the target serves the accepted twin: the request that differs from a refused one by one fault.
 *
 * @throws Untestable when the target refuses it
 */
export function requireServed(answer: Answer): void {
  if (!isServed(answer)) {
    throw new Untestable(`the same request without the fault is not served either: ${describeAnswer(answer)}`)
  }
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
