import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { inventedMethod } from './samples.ts'
import { serve } from './serve.ts'

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
export async function requireService(t: CheckContext): Promise<void> {
  await t.once('eth-rpc.service', (shared) => serve(shared, 'eth_chainId'))
}
