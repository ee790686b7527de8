import { describeAnswer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { badParams, expectResultSchema, hashFaults } from '../../lib/eth-rpc/method-clauses.ts'
import {
  expectOwnAtOnce,
  findTransaction,
  firstLook,
  type Found,
  knownTransactions,
  observeMissingKinds,
  receiptsOf,
} from '../../lib/eth-rpc/known-transactions.ts'
import { expectSameLog, type Log, logsOf } from '../../lib/eth-rpc/logs.ts'
import { expectSameFields, numberOf } from '../../lib/eth-rpc/values.ts'
import { unknownHash } from '../../lib/eth-rpc/methods.ts'
import { expect } from '../../lib/expect.ts'
import { Fault } from '../../lib/outcome.ts'
import { executedCalls } from '../../lib/relay/receipt.ts'

const method = 'eth_getTransactionReceipt'
/** How many receipts of calls of the run are compared. */
const ownCalls = 3

/** The fields that the standard gives to every receipt. The logs are compared one by one. */
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

type Members = Readonly<Record<string, unknown>>

/** Where a creation has reverted, some nodes name the address that the contract would have had. */
function comparable({ contractAddress, ...others }: Members): Members {
  return numberOf(others['status']) === 0n ? others : { ...others, contractAddress }
}

/** The logs by their index, where each tells it. The document shows no order. */
function inOrder(logs: readonly Log[]): readonly Log[] {
  const indexes = new Map(logs.map((log) => [log, numberOf(log['logIndex'])] as const))
  if ([...indexes.values()].includes(undefined)) return logs
  return logs.toSorted((a, b) => Number((indexes.get(a) ?? 0n) - (indexes.get(b) ?? 0n)))
}

/**
 * The logs of the transaction are those of the chain. They need not tell their place, since receipts are not paged.
 *
 * @throws Fault for the first difference
 */
function expectLogs(truth: Members, { answer, result }: Found): void {
  if ((result['logs'] ?? undefined) === undefined) return
  const [expected, found] = [logsOf(truth['logs']), inOrder(logsOf(result['logs'], { answer }))]
  if (expected.length !== found.length) {
    throw new Fault('the number of logs of the receipt is not that of the chain', {
      expected: `${expected.length} logs`,
      actual: `${found.length} logs`,
      answer,
    })
  }
  for (const [index, log] of expected.entries()) {
    expectSameLog(`log ${index} of the receipt`, log, found[index] ?? {}, { answer })
  }
}

export default [
  clause('eth-rpc.eth_getTransactionReceipt.success', (check) => {
    check('is the receipt of the chain, of each kind of transaction', async (t) => {
      const look = await firstLook(t)
      look.isWanted = true
      const receipts = await receiptsOf(t)
      for (const { known, receipt } of receipts) {
        const found = await findTransaction(t, method, known.hash)
        const { answer, result } = found
        const compared = expectSameFields(`the receipt of ${known.hash}`, fields, comparable(receipt), result, {
          answer,
        })
        expectLogs(receipt, found)
        if (compared > 0) continue
        throw new Fault('the result says nothing of the transaction', {
          expected: `the receipt of ${known.hash}`,
          actual: describeAnswer(answer),
          answer,
        })
      }
      observeMissingKinds(t, receipts)
    })

    check(
      'is found for the calls that the run has sent to the relay',
      { needs: ['chain'], isLast: true },
      async (t) => {
        const { hash: first } = await firstLook(t)
        const all = await executedCalls(t)
        if (all.length === 0) return t.observe('not seen: the run has sent no call to a relay')
        // The first one was asked for before it was mined, perhaps, and must not be kept as unknown.
        const asked = all.filter(({ receipt }) => receipt.transactionHash === first)
        for (const { receipt } of new Set([...asked, ...all.slice(-ownCalls)])) {
          const { answer, result } = await findTransaction(t, method, receipt.transactionHash)
          const truth = comparable({ ...receipt })
          expectSameFields(`the receipt of ${receipt.transactionHash}`, fields, truth, result, { answer })
        }
      },
    )

    check('of several at once: each its own', (t) => expectOwnAtOnce(t, method))
  }),

  clause('eth-rpc.eth_getTransactionReceipt.unknown', (check) => {
    check(
      'a hash that no transaction has',
      async (t) => void expect(await t.rpc.call(method, [unknownHash()])).to.have.result(null),
    )
  }),

  clause('eth-rpc.eth_getTransactionReceipt.result-schema', (check) => {
    check('is a receipt', async (t) => {
      for (const { hash } of await knownTransactions(t)) {
        expectResultSchema(t, method, (await findTransaction(t, method, hash)).result)
      }
    })
  }),

  badParams(method, async (t) => [(await knownTransactions(t))[0].hash], hashFaults),
]
