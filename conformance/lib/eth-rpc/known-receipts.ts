import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { emitterLogs, pairedLogs } from './emitter-logs.ts'
import type { Log } from './logs.ts'
import { knownTransactions, type KnownTransaction } from './known-transactions.ts'

/** A mined transaction and its receipt as the chain's node gives it. */
export interface KnownReceipt {
  readonly known: KnownTransaction
  readonly receipt: Readonly<Record<string, unknown>>
}

/**
 * The receipts of all known transactions, of one in the block with most logs, and of one with long data: large log
 * indexes and long data are seen nowhere else. Read once in a run.
 *
 * @throws Untestable when the chain's node does not have them
 */
export function receiptsOf(t: CheckContext): Promise<readonly KnownReceipt[]> {
  return t.once('eth-rpc.known-receipts', async (shared) => {
    const known = [...(await knownTransactions(shared))]
    for (const found of await emitting(shared)) {
      if (!known.some(({ hash }) => hash === found.hash)) known.push(found)
    }
    return Promise.all(
      known.map(async (transaction) => {
        const { hash } = transaction
        const receipt = (await shared.chain.send('eth_getTransactionReceipt', [hash])) as KnownReceipt['receipt'] | null
        if (receipt === null) throw new Untestable(`the chain's node has no receipt of ${hash}`)
        return { known: transaction, receipt }
      }),
    )
  })
}

async function emitting(t: CheckContext): Promise<KnownTransaction[]> {
  try {
    const { all, densest } = await emitterLogs(t)
    const ofBlock = all.findLast(({ blockNumber }) => BigInt(String(blockNumber)) === densest)
    const [long] = (await pairedLogs(t))?.all ?? []
    return await Promise.all([ofBlock, long].flatMap((log) => (log ? [emitterOf(t, log)] : [])))
  } catch (error) {
    if (error instanceof Untestable) return []
    throw error
  }
}

async function emitterOf({ chain }: CheckContext, log: Log): Promise<KnownTransaction> {
  const hash = String(log['transactionHash'])
  const fields = (await chain.send('eth_getTransactionByHash', [hash])) as KnownTransaction['fields'] | null
  if (fields === null) throw new Untestable(`the chain's node does not have the transaction ${hash}`)
  return { hash, block: BigInt(String(log['blockNumber'])), fields }
}
