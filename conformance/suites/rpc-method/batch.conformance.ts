import { type Answer, describeAnswer, errorOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { accountOf } from '../../lib/eth-rpc/accounts.ts'
import { requireRpcService } from '../../lib/eth-rpc/sample-requests.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { inventedMethod } from '../../lib/eth-rpc/methods.ts'
import { Fault } from '../../lib/outcome.ts'

type Response = Readonly<Record<string, unknown>>

/**
 * The responses by id, in any order.
 *
 * @throws Fault when an id has no response or several
 */
function responsesById(answer: Answer, ids: readonly number[]): Map<number, Response> {
  const { json } = answer
  const found = Array.isArray(json) ? (json as (Response | null)[]).map((response) => response?.['id']) : undefined
  if (!found || found.length !== ids.length || !ids.every((id) => found.includes(id))) {
    throw new Fault('there is not one response for each request', {
      expected: `an array with one response for each of the ids ${ids.join(', ')}`,
      actual: describeAnswer(answer),
      answer,
    })
  }
  return new Map((json as Response[]).map((response) => [Number(response['id']), response]))
}

export default [
  clause('eth-rpc.batch', (check) => {
    check('one response for each request', async (t) => {
      await requireRpcService(t)
      const answer = await t.rpc.send([
        { id: 11, jsonrpc: '2.0', method: 'eth_chainId', params: [] },
        { id: 12, jsonrpc: '2.0', method: 'eth_getBalance', params: [await accountOf(t), 'latest'] },
        { id: 13, jsonrpc: '2.0', method: 'eth_blockNumber', params: [] },
      ])
      for (const [id, response] of responsesById(answer, [11, 12, 13])) {
        if (numberOf(response['result']) !== undefined) continue
        throw new Fault(`the request ${id} of the batch is not served`, {
          expected: 'the result of its method',
          actual: JSON.stringify(response),
          answer,
        })
      }
    })

    check('a batch of one is answered by an array', async (t) => {
      await requireRpcService(t)
      responsesById(await t.rpc.send([{ id: 21, jsonrpc: '2.0', method: 'eth_chainId', params: [] }]), [21])
    })

    check('an error of one leaves the others served', async (t) => {
      await requireRpcService(t)
      const answer = await t.rpc.send([
        { id: 31, jsonrpc: '2.0', method: inventedMethod, params: [] },
        { id: 32, jsonrpc: '2.0', method: 'eth_chainId', params: [] },
      ])
      const responses = responsesById(answer, [31, 32])
      if (responses.get(31)?.['error'] && numberOf(responses.get(32)?.['result']) !== undefined) return
      throw new Fault('the answer does not answer each request by itself', {
        expected: 'an error for id 31, a result for id 32',
        actual: describeAnswer(answer),
        answer,
      })
    })

    check('an empty array is answered by one error', async (t) => {
      await requireRpcService(t)
      const answer = await t.rpc.send([])
      if (errorOf(answer) === undefined) {
        throw new Fault('the answer is not one error', {
          expected: 'one object with an error',
          actual: describeAnswer(answer),
          answer,
        })
      }
    })
  }),
]
