import { objectOf, type Answer } from '../answer.ts'

/** The error member of a JSON-RPC response; undefined when there is none, or null. */
export function errorOf(answer: Answer): unknown {
  return objectOf(answer)?.['error'] ?? undefined
}

/** The code of the error object; undefined when there is none. */
export function errorCodeOf(answer: Answer): unknown {
  const error = errorOf(answer)
  return typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
}
