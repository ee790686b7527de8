import { describeAnswer, yieldsResult } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault } from '../outcome.ts'
import type { ListedMethod } from './methods.ts'
import { isNumber, numberOf, readingsOf } from './quantity.ts'
import { inventedMethod } from './samples.ts'
import { expectServed, type Served, type Variant } from './serve.ts'

/**
 * Makes sure that a result of this target means something where no chain tells the right one: a target that has a
 * result for an invented method has one for everything. Asked once in a run.
 *
 * @throws Fault of the sentence that unlisted methods are not supported
 */
export async function expectDiscerning(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.discerning', async (shared) => {
    const answer = await shared.rpc.call(inventedMethod)
    if (!yieldsResult(answer)) return
    throw new Fault('the target has a result for an invented method', {
      expected: 'no result',
      actual: describeAnswer(answer),
      answer,
      of: 'eth-rpc.methods.unlisted-refused',
    })
  })
}

/** A served result that is a number. */
export interface ServedNumber extends Served {
  /** Every number that the result may mean, the most likely first. */
  readonly readings: readonly [bigint, ...bigint[]]
}

/**
 * The target serves the method with a number.
 *
 * @param what names the number in the message: `a price in wei`
 * @throws Fault of the sentence that the answer contradicts
 */
export async function expectNumber(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[],
  what: string,
): Promise<ServedNumber> {
  const { answer, result } = await expectServed(t, method, params)
  const [first, ...others] = readingsOf(result)
  if (first === undefined) {
    const of = `eth-rpc.${method}.success` as const
    throw new Fault('the result is no number', { expected: what, actual: describeAnswer(answer), answer, of })
  }
  if (!t.hasChain) await expectDiscerning(t)
  return { answer, result, readings: [first, ...others] }
}

/**
 * The target serves eth_chainId. With a chain, the result is the chain's id. Without a chain, it is a number from a
 * target that does not have a result for everything.
 *
 * @param variant absent: the documented envelope
 * @throws Fault of the sentence that the answer contradicts
 */
export async function expectChainId(t: CheckContext, variant?: Variant): Promise<Served> {
  const served = await expectServed(t, 'eth_chainId', [], variant)
  const { answer, result } = served
  const of = 'eth-rpc.eth_chainId.success'
  if (numberOf(result) === undefined) {
    throw new Fault('the result is no number', {
      expected: 'the id of the chain',
      actual: describeAnswer(answer),
      answer,
      of,
    })
  }
  if (!t.hasChain) await expectDiscerning(t)
  else if (!isNumber(result, t.chain.chainId)) {
    throw new Fault('the result is not the id of the chain', {
      expected: `${t.chain.chainId}`,
      actual: `${numberOf(result)}`,
      answer,
      of,
    })
  }
  return served
}
