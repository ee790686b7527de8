import { describe, objectOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectNullResult } from '../../lib/eth-rpc/expect-null-result.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { hashFaults } from '../../lib/eth-rpc/hash-faults.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { expectSameLogs, logsOf } from '../../lib/eth-rpc/logs.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { expectSameFields } from '../../lib/eth-rpc/same-fields.ts'
import { unknownHash } from '../../lib/eth-rpc/samples.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const method = 'eth_getTransactionReceipt'

/** What the standard gives for every receipt; the logs are compared one by one. */
const fields = [
  'blockHash',
  'blockNumber',
  'transactionIndex',
  'from',
  'to',
  'status',
  'gasUsed',
  'cumulativeGasUsed',
  'effectiveGasPrice',
  'contractAddress',
  'logsBloom',
  'type',
]

/** Asked until it is there: a target may come to know of a young transaction a moment later than our node. */
async function find(t: CheckContext, hash: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await eventually(
    t,
    () => t.rpc.call(method, [hash]),
    (answer) => (objectOf(answer)?.['result'] ?? null) !== null,
  )
  const result = served(answer)
  if (typeof result === 'object' && result !== null) return result as Record<string, unknown>
  throw new Fault('the receipt of a mined transaction is not found', {
    expected: `the receipt of ${hash}`,
    actual: describe(answer),
  })
}

export default [
  clause('eth-rpc.eth_getTransactionReceipt.success', (check) => {
    check('is the receipt of the chain', async (t) => {
      for (const { hash } of await knownTransactions(t)) {
        const truth = (await t.chain.send(method, [hash])) as Record<string, unknown> | null
        if (truth === null) throw new Untestable(`the chain's node has no receipt of ${hash}`)
        const found = await find(t, hash)
        if (String(found['transactionHash']).toLowerCase() !== hash.toLowerCase()) {
          throw new Fault('the result is another receipt', { expected: hash, actual: String(found['transactionHash']) })
        }
        expectSameFields(`the receipt of ${hash}`, fields, truth, found)
        if (found['logs'] !== undefined) expectSameLogs(logsOf(truth['logs']), logsOf(found['logs']))
      }
    })
  }),

  clause('eth-rpc.eth_getTransactionReceipt.unknown', (check) => {
    check('a hash that no transaction has', async (t) => expectNullResult(await t.rpc.call(method, [unknownHash()])))
  }),

  clause('eth-rpc.eth_getTransactionReceipt.result-schema', (check) => {
    check('is a receipt', async (t) => {
      for (const { hash } of await knownTransactions(t)) expectResultSchema(t, method, await find(t, hash))
    })
  }),

  badParams(method, async (t) => [(await knownTransactions(t))[0].hash], hashFaults),
]
