import type { ChainTruth } from './chain-truth.ts'
import { Untestable } from './outcome.ts'
import type { Receipt } from './relay/receipt.ts'
import type { CausedTransaction } from './report-types.ts'
import type { SpendingAccount } from './spending.ts'

/** What became of each transaction and what it cost. What the chain cannot tell is left out. */
export function describeTransactions(
  chain: ChainTruth,
  transactions: SpendingAccount['transactions'],
): Promise<CausedTransaction[]> {
  return Promise.all(
    transactions.map(async (caused): Promise<CausedTransaction> => {
      try {
        const receipt = (await chain.send('eth_getTransactionReceipt', [caused.hash])) as Receipt | null
        if (!receipt) return { ...caused, status: 'not found' }
        const gasUsed = BigInt(receipt.gasUsed)
        return {
          ...caused,
          status: receipt.status === '0x1' ? 'succeeded' : 'reverted',
          gasUsed: String(gasUsed),
          ...(receipt.effectiveGasPrice ? { feeWei: String(gasUsed * BigInt(receipt.effectiveGasPrice)) } : {}),
        }
      } catch (error) {
        if (error instanceof Untestable) return caused
        throw error
      }
    }),
  )
}
