import { describe, objectOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectNullResult } from '../../lib/eth-rpc/expect-null-result.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { hashFaults } from '../../lib/eth-rpc/hash-faults.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { expectSameFields } from '../../lib/eth-rpc/same-fields.ts'
import { unknownHash } from '../../lib/eth-rpc/samples.ts'
import { Fault } from '../../lib/outcome.ts'
import type { CheckContext } from '../../lib/context.ts'

const method = 'eth_getTransactionByHash'

/** What the standard gives for a mined transaction of any type. */
const fields = [
  'blockHash',
  'blockNumber',
  'transactionIndex',
  'from',
  'to',
  'nonce',
  'gas',
  'value',
  'input',
  'type',
  'chainId',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'maxFeePerBlobGas',
  'accessList',
  'blobVersionedHashes',
  'authorizationList',
  'r',
  's',
  'yParity',
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
  throw new Fault('a mined transaction is not found', { expected: `the transaction ${hash}`, actual: describe(answer) })
}

export default [
  clause('eth-rpc.eth_getTransactionByHash.success', (check) => {
    check('is the transaction of the chain', async (t) => {
      for (const { hash, fields: truth } of await knownTransactions(t)) {
        const found = await find(t, hash)
        if (String(found['hash']).toLowerCase() !== hash.toLowerCase()) {
          throw new Fault('the result is another transaction', { expected: hash, actual: String(found['hash']) })
        }
        expectSameFields(`transaction ${hash}`, fields, truth, found)
      }
    })
  }),

  clause('eth-rpc.eth_getTransactionByHash.unknown', (check) => {
    check('a hash that no transaction has', async (t) => expectNullResult(await t.rpc.call(method, [unknownHash()])))
  }),

  clause('eth-rpc.eth_getTransactionByHash.result-schema', (check) => {
    check('is a transaction of its type', async (t) => {
      for (const { hash } of await knownTransactions(t)) expectResultSchema(t, method, await find(t, hash))
    })
  }),

  badParams(method, async (t) => [(await knownTransactions(t))[0].hash], hashFaults),
]
