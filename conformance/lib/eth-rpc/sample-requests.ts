import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { accountOf } from './accounts.ts'
import { youngBlock } from './head.ts'
import { knownTransactions } from './known-transactions.ts'
import type { ListedMethod } from './methods.ts'
import { quantity } from './quantity.ts'
import { inventedMethod, sampleAddress } from './samples.ts'
import { expectServed } from './serve.ts'

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

/** Requests of each kind: served ones, and ones that deserve an error. */
export const sampleRequests = {
  served: [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ],
  refused: [
    { method: inventedMethod, params: [] },
    { method: 'eth_getBalance', params: ['0x12', 'latest'] },
  ],
} as const

/** Sends the samples of one kind with ids of the caller's choice. */
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

/** A target that serves nothing has no form of response to judge. @throws Fault of the sentence that it breaks */
export async function requireRpcService(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.service', (shared) => expectServed(shared, 'eth_chainId'))
}
