import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import { expectDiscerning } from './discerning.ts'
import { isNumber, numberOf } from './quantity.ts'
import { serve, type Served, type Variant } from './serve.ts'

/**
 * The target serves eth_chainId: by the chain's node when there is one, else by a number from a target that does not
 * answer everything alike.
 *
 * @param variant absent: the documented envelope
 * @throws Fault, of the sentence that the answer contradicts
 */
export async function expectChainId(t: CheckContext, variant?: Variant): Promise<Served> {
  const served = await serve(t, 'eth_chainId', [], variant)
  const { answer, result } = served
  const of = 'eth-rpc.eth_chainId.success'
  if (numberOf(result) === undefined) {
    throw new Fault('the result is no number', {
      expected: 'the id of the chain',
      actual: describe(answer),
      answer,
      of,
    })
  }
  if (!t.hasChain) await expectDiscerning(t)
  else if (!isNumber(result, t.chain.chainId)) {
    throw new Fault('the result is another chain’s id than that of the node we compare with', {
      expected: `${t.chain.chainId}`,
      actual: `${numberOf(result)}`,
      answer,
      of,
    })
  }
  return served
}
