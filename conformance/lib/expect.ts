import { use } from 'chai'
import type { Answer } from './answer.ts'
import { relayAssertions } from './assertions.ts'
import { memberOf } from './rpc-answer.ts'

/** chai's `expect`, with assertions about the answers of relays. A plugin of chai is taken in once for the whole process. */
export const { expect } = use(relayAssertions)

/** The result of a request that the target must serve. @throws Fault with the answer shown when it does not */
export function resultOf(answer: Answer): unknown {
  expect(answer).to.be.served
  return memberOf(answer, 'result')
}
