import type { Upstream } from './upstream.ts'
import { isRaw } from '../../ethereum/quantity.ts'

/**
 * A node's receipt, with the price that was paid for the gas. Nodes of chains without EIP-1559 may leave
 * `effectiveGasPrice` out, although every receipt must have it (execution-apis). The price is then the one that the
 * transaction names.
 */
export async function readReceipt(upstream: Pick<Upstream, 'request'>, hash: string): Promise<unknown> {
  const receipt = await upstream.request('eth_getTransactionReceipt', [hash])
  if (!isRaw(receipt) || receipt['effectiveGasPrice'] !== undefined) return receipt
  const transaction = await upstream.request('eth_getTransactionByHash', [hash])
  const price = isRaw(transaction) ? transaction['gasPrice'] : undefined
  return price === undefined ? receipt : { ...receipt, effectiveGasPrice: price }
}
