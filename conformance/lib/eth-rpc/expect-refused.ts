import { describe, objectOf, type Answer } from '../answer.ts'
import { hasResult, isServed } from '../expect-rpc.ts'
import { Fault, Untestable } from '../outcome.ts'

/** The accepted twin of a refused request: what differs from it by one fault. @throws Untestable when it is refused */
export function requireServed(answer: Answer): void {
  if (!isServed(answer)) {
    throw new Untestable(`the same request without the fault is not served either: ${describe(answer)}`)
  }
}

/**
 * The answer is an error of the caller's: without a result, without a server error. A JSON-RPC error with any status
 * below 500 is one, and so is an HTTP status of the 4xx.
 *
 * @throws Fault
 */
export function expectRefused(answer: Answer): void {
  const expected = 'an error and no result, below HTTP 500'
  const fault = (message: string) => new Fault(message, { expected, actual: describe(answer), answer })
  const { status } = answer
  if (status === undefined) throw fault('there is no answer')
  if (status >= 500) throw fault('the answer is a server error')
  if (hasResult(answer)) throw fault('the answer has a result')
  const error = objectOf(answer)?.['error'] ?? null
  if (error === null && status < 400) throw fault('the answer has no error')
}
