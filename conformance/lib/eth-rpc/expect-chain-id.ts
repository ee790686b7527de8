import { describe, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { served } from '../expect-rpc.ts'
import { Fault } from '../outcome.ts'
import { expectDiscerning } from './discerning.ts'
import { numberOf } from './quantity.ts'

/**
 * The answer serves an eth_chainId request: by the chain's node when there is one, else by a number from a target that
 * does not answer everything alike.
 *
 * @throws Fault
 */
export async function expectChainId(t: CheckContext, answer: Answer): Promise<void> {
  const found = numberOf(served(answer))
  if (found === undefined) {
    throw new Fault('the result is no number', { expected: 'the id of the chain', actual: describe(answer) })
  }
  if (!t.hasChain) return expectDiscerning(t)
  if (found !== t.chain.chainId) {
    throw new Fault('the result is another chain’s id than that of the node we compare with', {
      expected: `${t.chain.chainId}`,
      actual: `${found}`,
    })
  }
}
