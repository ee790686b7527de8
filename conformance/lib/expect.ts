import { use } from 'chai'
import { type Answer, describeAnswer, isServed, memberOf } from './answer.ts'
import { relayAssertions, type RelayExpect } from './assertions.ts'
import { Untestable } from './outcome.ts'

/** chai's `expect` with the assertions about the answers of relays. chai keeps a plugin for the whole process. */
export const expect: RelayExpect = use(relayAssertions).expect

/**
 * The result of a request that the target must serve.
 *
 * @throws Fault that shows the answer, when the target does not serve the request
 */
export function resultOf(answer: Answer): unknown {
  expect(answer).to.be.served
  return memberOf(answer, 'result')
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
