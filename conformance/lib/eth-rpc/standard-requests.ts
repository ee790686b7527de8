import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { accountOf } from './accounts.ts'
import { knownTransactions } from './known-transactions.ts'
import type { ListedMethod } from './listed-methods.ts'
import { youngBlock } from './head.ts'
import { quantity } from './quantity.ts'
import { sampleAddress } from './samples.ts'

export interface StandardRequest {
  readonly method: ListedMethod
  readonly params: readonly unknown[]
}

/**
 * One request for each listed method, as clients send it to any node. The two that name a transaction are left out
 * where no mined one is known: what an unknown hash is answered with, the document does not say.
 */
export async function inStandardFormat(t: CheckContext): Promise<StandardRequest[]> {
  const hashes = await knownTransactions(t).then(
    ([{ hash }]) => [hash],
    (error: unknown) => {
      if (error instanceof Untestable) return []
      throw error
    },
  )
  // By its number: which forms a filter may have is not shown, tags in it among them.
  const block = quantity(await youngBlock(t))
  return [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_chainId', params: [] },
    { method: 'eth_gasPrice', params: [] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
    { method: 'eth_getBalance', params: [await accountOf(t), 'latest'] },
    { method: 'eth_getLogs', params: [{ address: sampleAddress, fromBlock: block, toBlock: block }] },
    ...hashes.flatMap((hash): StandardRequest[] => [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ]),
  ]
}
