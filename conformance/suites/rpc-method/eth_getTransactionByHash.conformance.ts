import { describeAnswer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { badParams, expectResultSchema, hashFaults } from '../../lib/eth-rpc/method-clauses.ts'
import {
  expectOwnAtOnce,
  findTransaction,
  firstLook,
  knownTransactions,
  observeMissingKinds,
  receiptsOf,
} from '../../lib/eth-rpc/known-transactions.ts'
import { expectSameFields, numberOf } from '../../lib/eth-rpc/values.ts'
import { unknownHash } from '../../lib/eth-rpc/methods.ts'
import { expect } from '../../lib/expect.ts'
import { Fault } from '../../lib/outcome.ts'
import { executedCalls } from '../../lib/relay/receipt.ts'

const method = 'eth_getTransactionByHash'

/** The fields that the standard gives to a mined transaction of any type. */
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
  'data',
  'type',
  'chainId',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'maxFeePerBlobGas',
  'accessList',
  'blobVersionedHashes',
  'authorizationList',
  'v',
  'r',
  's',
  'yParity',
]

type Members = Readonly<Record<string, unknown>>

/** The parity of the signature, where the chain's node tells it, or tells it as `v`. */
function parityOf({ yParity, type, v }: Members): unknown {
  const isParity = numberOf(type) !== 0n && [0n, 1n].includes(numberOf(v) ?? -1n)
  return yParity ?? (isParity ? v : undefined)
}

/**
 * The chain's values under the target's names. Older nodes call the input `data`. As the price, some nodes return the bid and
 * others what was paid.
 */
function truthFor(found: Members, truth: Members, { effectiveGasPrice }: Members): Members {
  const { input, gasPrice, maxFeePerGas } = truth
  const told = numberOf(found['gasPrice'])
  const prices = maxFeePerGas === undefined ? [gasPrice] : [gasPrice, maxFeePerGas, effectiveGasPrice]
  const meant = prices.find((price) => told !== undefined && numberOf(price) === told)
  return { ...truth, yParity: parityOf(truth), data: input, gasPrice: meant ?? gasPrice }
}

export default [
  clause('eth-rpc.eth_getTransactionByHash.success', (check) => {
    check('is the transaction of the chain, of each kind', async (t) => {
      const receipts = await receiptsOf(t)
      for (const { known, receipt } of receipts) {
        const { hash } = known
        const { answer, result } = await findTransaction(t, method, hash)
        const truth = truthFor(result, known.fields, receipt)
        const compared = expectSameFields(`transaction ${hash}`, fields, truth, result, { answer })
        if (compared > 0) continue
        throw new Fault('the result says nothing of the transaction', {
          expected: `the transaction ${hash}`,
          actual: describeAnswer(answer),
          answer,
        })
      }
      observeMissingKinds(t, receipts)
      const look = await firstLook(t)
      look.isWanted = true
    })

    check('is found as mined, though it was asked for before', { needs: ['chain'], isLast: true }, async (t) => {
      const { hash } = await firstLook(t)
      const executed = (await executedCalls(t)).find(({ receipt }) => receipt.transactionHash === hash)
      if (hash === undefined || !executed) return t.observe('not seen: the run has sent no call to a relay')
      const truth = (await t.chain.send(method, [hash])) as Members | null
      const { answer, result } = await findTransaction(t, method, hash)
      if (!truth) return
      const expected = truthFor(result, truth, { ...executed.receipt })
      expectSameFields(`transaction ${hash}`, fields, expected, result, { answer })
    })

    check('of several at once: each its own', (t) => expectOwnAtOnce(t, method))
  }),

  clause('eth-rpc.eth_getTransactionByHash.unknown', (check) => {
    check(
      'a hash that no transaction has',
      async (t) => void expect(await t.rpc.call(method, [unknownHash()])).to.have.result(null),
    )
  }),

  clause('eth-rpc.eth_getTransactionByHash.result-schema', (check) => {
    check('is a transaction of its type', async (t) => {
      for (const { hash } of await knownTransactions(t)) {
        expectResultSchema(t, method, (await findTransaction(t, method, hash)).result)
      }
    })
  }),

  badParams(method, async (t) => [(await knownTransactions(t))[0].hash], hashFaults),
]
