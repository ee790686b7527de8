import { describe, type Answer } from '../answer.ts'
import { served } from '../expect-rpc.ts'
import { Fault } from '../outcome.ts'

/** The answer has the result null: there is no such thing. @throws Fault */
export function expectNullResult(answer: Answer): void {
  if (served(answer) === null) return
  throw new Fault('the result is not null', { expected: 'the result null', actual: describe(answer), answer })
}
