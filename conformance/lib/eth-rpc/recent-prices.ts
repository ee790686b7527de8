import type { ChainTruth } from '../chain-truth.ts'
import { Untestable } from '../outcome.ts'
import { readHead } from './head.ts'
import { numberOf, quantity } from './quantity.ts'

/** How many blocks count as recent. */
const depth = 20n

interface Block {
  readonly baseFeePerGas?: unknown
  readonly transactions?: readonly { readonly gasPrice?: unknown }[]
}

/**
 * The range of what gas costs on the chain now: its node's own price, and in the recent blocks base fees and the prices
 * that transactions paid. In wei.
 *
 * @throws Untestable when the node knows of none
 */
export async function recentPrices(chain: ChainTruth): Promise<{ readonly lowest: bigint; readonly highest: bigint }> {
  const head = await readHead(chain)
  const values: unknown[] = []
  const own = await chain.attempt('eth_gasPrice')
  if ('result' in own) values.push(own.result)
  for (let number = head; number >= 0n && number > head - depth; number -= 1n) {
    const block = (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
    values.push(block?.baseFeePerGas, ...(block?.transactions ?? []).map(({ gasPrice }) => gasPrice))
  }
  const prices = values.map(numberOf).filter((price) => price !== undefined)
  const [first] = prices
  if (first === undefined) throw new Untestable('the chain’s node knows of no gas price')
  return {
    lowest: prices.reduce((least, price) => (price < least ? price : least), first),
    highest: prices.reduce((most, price) => (price > most ? price : most), first),
  }
}
