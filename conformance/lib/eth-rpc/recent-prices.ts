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
 * The range of what gas costs on the chain now: its node's own price, and what the transactions of the recent blocks
 * paid. Only where there is neither, the base fees: on an idle chain they sink far below what anyone pays. In wei.
 *
 * @throws Untestable when the node knows of none
 */
export async function recentPrices(chain: ChainTruth): Promise<{ readonly lowest: bigint; readonly highest: bigint }> {
  const head = await readHead(chain)
  const paid: unknown[] = []
  const baseFees: unknown[] = []
  const own = await chain.attempt('eth_gasPrice')
  if ('result' in own) paid.push(own.result)
  for (let number = head; number >= 0n && number > head - depth; number -= 1n) {
    const block = (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
    paid.push(...(block?.transactions ?? []).map(({ gasPrice }) => gasPrice))
    baseFees.push(block?.baseFeePerGas)
  }
  const known = (values: unknown[]) => values.map(numberOf).filter((price) => price !== undefined)
  const prices = known(paid).length > 0 ? known(paid) : known(baseFees)
  const [first] = prices
  if (first === undefined) throw new Untestable('the chain’s node knows of no gas price')
  return {
    lowest: prices.reduce((least, price) => (price < least ? price : least), first),
    highest: prices.reduce((most, price) => (price > most ? price : most), first),
  }
}
