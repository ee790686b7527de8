import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Fault } from '../outcome.ts'
import { expectDiscerning } from './discerning.ts'
import type { ListedMethod } from './listed-methods.ts'
import { readingsOf } from './quantity.ts'
import { serve, type Served } from './serve.ts'

/** A served result that is a number. */
export interface ServedNumber extends Served {
  /** Every number that it may stand for, the likeliest first. */
  readonly readings: readonly [bigint, ...bigint[]]
}

/**
 * The target serves the method, by a number.
 *
 * @param what names it in the message: `a price in wei`
 * @throws Fault of the sentence that the answer contradicts
 */
export async function expectNumber(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[],
  what: string,
): Promise<ServedNumber> {
  const { answer, result } = await serve(t, method, params)
  const [first, ...others] = readingsOf(result)
  if (first === undefined) {
    const of = `eth-rpc.${method}.success` as const
    throw new Fault('the result is no number', { expected: what, actual: describe(answer), answer, of })
  }
  if (!t.hasChain) await expectDiscerning(t)
  return { answer, result, readings: [first, ...others] }
}
