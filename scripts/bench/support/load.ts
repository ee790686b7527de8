import { setTimeout as sleep } from 'node:timers/promises'
import { createRpcClient, rpcBody, type RpcClient } from '../../../testbed/relay-world.ts'

/** The result of a run of many workers. */
export interface LoadResult {
  readonly done: number
  readonly failed: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The number of failures, by reason. */
  readonly failures: Readonly<Record<string, number>>
}

export interface LoadOptions {
  readonly workers: number
  /** Tasks of all workers together. */
  readonly tasks: number
}

/**
 * Runs tasks, one at a time for each worker.
 *
 * @param task gets the worker's number and the number of tasks that it has done; throws when it fails
 */
export async function runLoad(
  { workers, tasks }: LoadOptions,
  task: (worker: number, index: number) => Promise<void>,
): Promise<LoadResult> {
  const latencies: number[] = []
  const failures: Record<string, number> = {}
  const perWorker = Math.ceil(tasks / workers)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let index = 0; index < perWorker; index++) {
        const begun = performance.now()
        try {
          await task(worker, index)
          latencies.push(performance.now() - begun)
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error)
          failures[reason] = (failures[reason] ?? 0) + 1
        }
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  latencies.sort((one, other) => one - other)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? NaN
  return {
    done: latencies.length,
    failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failures,
  }
}

const POLL_MS = 10
const DEADLINE_MS = 60_000

/** Whether all transactions of a load are mined. */
type AreMined = (result: LoadResult) => Promise<boolean>

/**
 * Runs a load whose tasks send a transaction each, and waits until those are mined.
 *
 * @param watch is called before the load; the function that it returns is called after the load, until it returns true
 * @returns the result of the load; its rate counts the time until the last transaction is mined
 * @throws Error when the node does not mine them within a minute
 */
export async function runUntilMined(
  rpcUrl: string,
  load: () => Promise<LoadResult>,
  watch: (node: RpcClient) => Promise<AreMined>,
): Promise<LoadResult> {
  const node = createRpcClient(rpcUrl, 1)
  try {
    const areMined = await watch(node)
    const begun = performance.now()
    const result = await load()
    const deadline = performance.now() + DEADLINE_MS
    while (!(await areMined(result))) {
      if (performance.now() > deadline) throw new Error(`the node has not mined ${result.done} transactions`)
      await sleep(POLL_MS)
    }
    const seconds = (performance.now() - begun) / 1000
    return { ...result, seconds, perSecond: result.done / seconds }
  } finally {
    await node.close()
  }
}

/** Counts the mined transactions of these senders. Nobody else may send from their accounts meanwhile. */
export const countedBy =
  (senders: readonly string[]) =>
  async (node: RpcClient): Promise<AreMined> => {
    const countAll = async () => (await transactionCounts(node, senders)).reduce((sum, count) => sum + count, 0)
    const before = await countAll()
    return async ({ done }) => (await countAll()) - before >= done
  }

/** For senders whose transactions carry several calls. Waits until the node has mined all of their transactions. */
export const nothingLeftOf =
  (senders: readonly string[]) =>
  async (node: RpcClient): Promise<AreMined> =>
  async () => {
    // What is sent before the second answer is in the first one, or in the next look.
    const mined = await transactionCounts(node, senders)
    const known = await transactionCounts(node, senders, 'pending')
    return known.every((count, index) => count === mined[index])
  }

/** The number of mined transactions of each sender; with `pending`, those that wait to be mined count too. */
export async function transactionCounts(
  node: RpcClient,
  senders: readonly string[],
  block: 'latest' | 'pending' = 'latest',
): Promise<number[]> {
  const bodies = senders.map((sender, index) => rpcBody('eth_getTransactionCount', [sender, block], index))
  const answers = JSON.parse((await node.post(`[${bodies.join()}]`)).text) as { result: string }[]
  return answers.map(({ result }) => Number(result))
}
