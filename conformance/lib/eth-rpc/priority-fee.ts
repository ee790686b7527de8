import { describe } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { isServed } from '../expect-rpc.ts'
import type { ListedMethod } from './listed-methods.ts'
import { hasBaseFee } from './recent-prices.ts'

/**
 * Whether the method is eth_maxPriorityFeePerGas and is refused on a chain that has no priority fees: before EIP-1559
 * there is nothing that the document could ask for. Told, and not judged.
 */
export async function isWithoutMeaning(t: CheckContext, method: ListedMethod): Promise<boolean> {
  if (method !== 'eth_maxPriorityFeePerGas' || !t.hasChain || (await hasBaseFee(t))) return false
  const answer = await t.rpc.call(method)
  if (isServed(answer)) return false
  t.observe(`the chain has no base fee (EIP-1559), and ${method} is refused: ${describe(answer)}`)
  return true
}
