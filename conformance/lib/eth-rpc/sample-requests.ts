import type { Answer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import { accountOf } from './accounts.ts'
import { youngBlock } from './head.ts'
import { knownTransactions } from './known-transactions.ts'
import { quantity } from './quantity.ts'
import { inventedMethod, type ListedMethod, sampleAddress } from './methods.ts'
import { expectServed } from './serve.ts'

interface StandardRequest {
  readonly method: ListedMethod
  readonly params: readonly unknown[]
}

/**
 * One request for each listed method, as clients send it to any node. The two methods that take a hash are left out
 * where no mined transaction is known: the document does not say what a service answers to an unknown hash.
 */
export async function inStandardFormat(t: CheckContext): Promise<StandardRequest[]> {
  const hashes = await knownTransactions(t).then(
    ([{ hash }]) => [hash],
    (error: unknown) => {
      if (error instanceof Untestable) return []
      throw error
    },
  )
  // The document does not show whether a filter may hold a tag, so the filter names the block by its number.
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

/** Requests that a target serves, and requests that it refuses. */
const sampleRequests = {
  served: [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ],
  refused: [
    { method: inventedMethod, params: [] },
    { method: 'eth_getBalance', params: ['0x12', 'latest'] },
  ],
} as const

/** Sends the samples of one kind with the ids that the caller chooses. */
export async function askSamples(
  t: CheckContext,
  kind: keyof typeof sampleRequests,
  idOf: (index: number) => number | string = (index) => index + 1,
): Promise<{ readonly id: number | string; readonly answer: Answer }[]> {
  const answers = []
  for (const [index, { method, params }] of sampleRequests[kind].entries()) {
    const id = idOf(index)
    answers.push({ id, answer: await t.rpc.send({ id, jsonrpc: '2.0', method, params }) })
  }
  return answers
}

/**
 * Makes sure that the target serves a request, since a target that serves none has no form of response to judge.
 *
 * @throws Fault of the sentence that the target breaks
 */
export async function requireRpcService(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.service', (shared) => expectServed(shared, 'eth_chainId'))
}
