import { use } from 'chai'
import type { Answer } from './answer.ts'
import { relayAssertions } from './assertions.ts'
import { memberOf } from './rpc-answer.ts'

/** chai's `expect` with the assertions about the answers of relays. chai keeps a plugin for the whole process. */
export const { expect } = use(relayAssertions)

/**
 * The result of a request that the target must serve.
 *
 * @throws Fault that shows the answer, when the target does not serve the request
 */
export function resultOf(answer: Answer): unknown {
  expect(answer).to.be.served
  return memberOf(answer, 'result')
}
