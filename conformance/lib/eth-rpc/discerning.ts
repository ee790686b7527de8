import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { yieldsResult } from '../expect-rpc.ts'
import { Fault } from '../outcome.ts'
import { inventedMethod } from './samples.ts'

/**
 * Makes sure that an answer of this target means something where no chain tells what is right: one that has a result
 * for a method that nobody knows has one for everything, and being served by it proves nothing. Asked once in a run.
 *
 * @throws Fault of the sentence that unlisted methods are not supported
 */
export async function expectDiscerning(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.discerning', async (shared) => {
    const answer = await shared.rpc.call(inventedMethod)
    if (!yieldsResult(answer)) return
    throw new Fault('the target has a result for an invented method too', {
      expected: 'no result',
      actual: describe(answer),
      answer,
      of: 'eth-rpc.methods.unlisted-refused',
    })
  })
}
