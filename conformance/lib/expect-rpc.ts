import { describe, objectOf, type Answer } from './answer.ts'
import { Fault } from './outcome.ts'

/** Whether the answer is a served JSON-RPC request: HTTP 200, an object with a result and without an error. */
export function isServed(answer: Answer): boolean {
  const body = objectOf(answer)
  return answer.status === 200 && body !== undefined && 'result' in body && (body['error'] ?? null) === null
}

/** The result of a request that the target must serve. @throws Fault with the answer shown when it does not */
export function served(answer: Answer): unknown {
  if (isServed(answer)) return objectOf(answer)?.['result']
  throw new Fault('the request was not served', {
    expected: 'HTTP 200 with a result and no error',
    actual: describe(answer),
  })
}

/** Whether the answer holds a result other than null, with whatever status. */
export function hasResult(answer: Answer): boolean {
  return (objectOf(answer)?.['result'] ?? null) !== null
}
