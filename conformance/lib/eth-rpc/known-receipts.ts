import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { emitterLogs, pairedLogs } from './emitter-logs.ts'
import { knownHead } from './head.ts'
import type { Log } from './logs.ts'
import { knownTransactions, type KnownTransaction } from './known-transactions.ts'
import { numberOf, quantity } from './quantity.ts'

/** A mined transaction and its receipt as the chain's node gives it. */
export interface KnownReceipt {
  readonly known: KnownTransaction
  readonly receipt: Readonly<Record<string, unknown>>
}

/** In so many of the youngest blocks one is looked for whose logs are not the first of their block. */
const youngBlocks = 5n

/**
 * The receipts of all known transactions, of one in the block with most logs, of one with long data, and of one whose
 * logs are not the first of their block, where there is one: these are seen nowhere else. Read once in a run.
 *
 * @throws Untestable when the chain's node does not have them
 */
export function receiptsOf(t: CheckContext): Promise<readonly KnownReceipt[]> {
  return t.once('eth-rpc.known-receipts', async (shared) => {
    const known = [...(await knownTransactions(shared))]
    for (const found of [...(await emitting(shared)), ...(await notFirstInBlock(shared))]) {
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

/** Where the youngest blocks have one: a transaction whose logs come after those of another. */
async function notFirstInBlock(t: CheckContext): Promise<KnownTransaction[]> {
  const head = await knownHead(t)
  const range = { fromBlock: quantity(head < youngBlocks ? 0n : head - youngBlocks), toBlock: quantity(head) }
  const outcome = await t.chain.attempt('eth_getLogs', [range])
  const logs = 'result' in outcome && Array.isArray(outcome.result) ? (outcome.result as Log[]) : []
  const firstOf = new Map<unknown, Log>()
  for (const log of logs) if (!firstOf.has(log['transactionHash'])) firstOf.set(log['transactionHash'], log)
  const [later] = [...firstOf.values()].filter((log) => (numberOf(log['logIndex']) ?? 0n) > 0n)
  return later ? [await emitterOf(t, later)] : []
}

async function emitterOf({ chain }: CheckContext, log: Log): Promise<KnownTransaction> {
  const hash = String(log['transactionHash'])
  const fields = (await chain.send('eth_getTransactionByHash', [hash])) as KnownTransaction['fields'] | null
  if (fields === null) throw new Untestable(`the chain's node does not have the transaction ${hash}`)
  return { hash, block: BigInt(String(log['blockNumber'])), fields }
}
