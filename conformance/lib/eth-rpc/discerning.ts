import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { hasResult } from '../expect-rpc.ts'
import { Untestable } from '../outcome.ts'
import { inventedMethod } from './samples.ts'

/**
 * Makes sure that an answer of this target means something: one that has a result for a method that nobody knows has
 * one for everything, and being served by it proves nothing. Asked once in a run.
 *
 * @throws Untestable with the answer shown
 */
export async function expectDiscerning(t: CheckContext): Promise<void> {
  const answer = await t.once('eth-rpc.discerning', (shared) => shared.rpc.call(inventedMethod))
  if (hasResult(answer)) {
    throw new Untestable(`the target has a result for an invented method too: ${describe(answer)}`)
  }
}
