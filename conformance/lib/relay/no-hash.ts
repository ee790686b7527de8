import { describe, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import { hashIn } from './execute.ts'

/**
 * @param what the request, for the message: `a body without address`
 * @throws Fault when the answer holds a transactionHash; no answer at all holds none, and is noted
 */
export function expectNoHash(t: CheckContext, answer: Answer, what: string): void {
  if (answer.failure) t.observe(`${what}: ${answer.failure.message}`)
  if (hashIn(answer) === undefined) return
  throw new Fault(`there is a transactionHash for ${what}`, {
    expected: 'an answer without transactionHash',
    actual: describe(answer),
  })
}
