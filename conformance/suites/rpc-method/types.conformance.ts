import { getAddress } from 'ethers'
import { describeAnswer } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { expect } from '../../lib/expect.ts'
import { accountOf } from '../../lib/eth-rpc/accounts.ts'
import { eventually, knownHead } from '../../lib/eth-rpc/head.ts'
import { expectNumber } from '../../lib/eth-rpc/serve.ts'
import { findTransaction, knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { isNumber, numberOf, quantity } from '../../lib/eth-rpc/values.ts'
import { sampleAddress } from '../../lib/eth-rpc/methods.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const askBalance = (t: CheckContext, address: string, block: string) =>
  expectNumber(t, 'eth_getBalance', [address, block], 'a balance', { isYoung: true })

export default [
  clause('eth-rpc.types.address', (check) => {
    check('lower and checksummed case name the same account', async (t) => {
      const account = await accountOf(t)
      // The balance may change between two requests. Two answers that agree are of the same moment, and an answer between two
      // that agree is, too.
      const [checksummed, lower, again] = await eventually(
        t,
        async () => {
          const before = await askBalance(t, getAddress(account), 'latest')
          const between = await askBalance(t, account.toLowerCase(), 'latest')
          const agree = before.readings[0] === between.readings[0]
          return [before, between, agree ? before : await askBalance(t, getAddress(account), 'latest')] as const
        },
        ([, between, after]) => between.readings[0] === after.readings[0],
      )
      if (lower.readings[0] === again.readings[0]) return
      if (checksummed.readings[0] !== again.readings[0]) {
        throw new Untestable('the balance of the account changes between two requests all the time')
      }
      expect(lower.readings[0], 'the balance by the lower case, beside that by the checksummed one')
        .shownBy(lower.answer)
        .to.equal(checksummed.readings[0])
    })
  }),

  clause('eth-rpc.types.hash', (check) => {
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'] as const) {
      check(`${method} finds the transaction that 32 bytes name`, async (t) => {
        const [{ hash }] = await knownTransactions(t)
        await findTransaction(t, method, hash)
      })
    }
  }),

  clause('eth-rpc.types.block-tags', (check) => {
    for (const tag of ['latest', 'pending']) {
      check(`"${tag}" is accepted`, async (t) => void (await askBalance(t, await accountOf(t), tag)))
    }

    // The document says that "earliest" does not work as expected, and shows no errors. So no answer breaks a sentence.
    check('the answer to "earliest" is observed, not judged', async (t) => {
      const answer = await t.rpc.call('eth_getBalance', [sampleAddress, 'earliest'])
      t.observe(`"earliest" is answered with ${describeAnswer(answer)}`)
    })
  }),

  clause('eth-rpc.types.block-number', (check) => {
    check('the number of a young block is accepted', async (t) => {
      const block = quantity(await knownHead(t))
      const account = await accountOf(t)
      const truth = numberOf(await t.chain.send('eth_getBalance', [account, block])) ?? 0n
      // A target that is a block behind does not know the block at once.
      const { answer, result } = await eventually(
        t,
        () => askBalance(t, account, block),
        ({ result }) => isNumber(result, truth),
      )
      if (isNumber(result, truth)) return
      throw new Fault('the balance at that block is another', {
        expected: `${truth}`,
        actual: describeAnswer(answer),
        answer,
        of: 'eth-rpc.eth_getBalance.success',
      })
    })
  }),
]
