import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadResult } from './load.ts'
import { createRpcClient, rpcBody } from './rpc.ts'

const POLL_MS = 10
const DEADLINE_MS = 60_000

/**
 * Runs a load whose tasks send a transaction each, and waits until those are mined.
 *
 * @param senders of the transactions, who send nothing else meanwhile
 * @returns what the load came to; the rate counts the time until the last one is mined
 * @throws Error when the node does not mine them within a minute
 */
export async function runUntilMined(
  rpcUrl: string,
  senders: readonly string[],
  load: () => Promise<LoadResult>,
): Promise<LoadResult> {
  const node = createRpcClient(rpcUrl, 1)
  const counts = `[${senders.map((sender) => rpcBody('eth_getTransactionCount', [sender, 'latest'])).join()}]`
  const countMined = async () => {
    const answers = JSON.parse((await node.post(counts)).text) as { result: string }[]
    return answers.reduce((sum, { result }) => sum + Number(result), 0)
  }
  try {
    const before = await countMined()
    const begun = performance.now()
    const result = await load()
    const deadline = performance.now() + DEADLINE_MS
    for (let mined = (await countMined()) - before; mined < result.done; mined = (await countMined()) - before) {
      if (performance.now() > deadline) throw new Error(`the node has mined ${mined} of ${result.done} transactions`)
      await sleep(POLL_MS)
    }
    const seconds = (performance.now() - begun) / 1000
    return { ...result, seconds, perSecond: result.done / seconds }
  } finally {
    await node.close()
  }
}
