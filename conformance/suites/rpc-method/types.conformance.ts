import { getAddress } from 'ethers'
import { describe, objectOf, type Answer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { accountsOf } from '../../lib/eth-rpc/accounts.ts'
import { expectDiscerning } from '../../lib/eth-rpc/discerning.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { readHead } from '../../lib/eth-rpc/head.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { numberOf, quantity } from '../../lib/eth-rpc/quantity.ts'
import { sampleAddress } from '../../lib/eth-rpc/samples.ts'
import { Fault } from '../../lib/outcome.ts'

function balanceIn(answer: Answer): bigint {
  const balance = numberOf(served(answer))
  if (balance === undefined)
    throw new Fault('the result is no number', { expected: 'a balance', actual: describe(answer) })
  return balance
}

export default [
  clause('eth-rpc.types.address', (check) => {
    check('lower and checksummed case name the same account', async (t) => {
      await expectDiscerning(t)
      const [account = sampleAddress] = await accountsOf(t)
      const ask = async (address: string) => balanceIn(await t.rpc.call('eth_getBalance', [address, 'latest']))
      // The balance may change between two requests; two in a row that agree were of one moment.
      const [checksummed, lower] = await eventually(
        t,
        async () => [await ask(getAddress(account)), await ask(account.toLowerCase())] as const,
        ([a, b]) => a === b,
      )
      if (checksummed !== lower) {
        throw new Fault('the two spellings have different balances', {
          expected: `${checksummed}, as for the checksummed case`,
          actual: `${lower} for the lower case`,
        })
      }
    })
  }),

  clause('eth-rpc.types.hash', (check) => {
    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
      check(`${method} finds the transaction that 32 bytes name`, async (t) => {
        const [{ hash }] = await knownTransactions(t)
        const member = method === 'eth_getTransactionByHash' ? 'hash' : 'transactionHash'
        const found = (answer: Answer) => (objectOf(answer)?.['result'] as Record<string, unknown> | null)?.[member]
        const answer = await eventually(
          t,
          () => t.rpc.call(method, [hash]),
          (answer) => (found(answer) ?? null) !== null,
        )
        served(answer)
        const named = found(answer)
        if (typeof named !== 'string' || named.toLowerCase() !== hash.toLowerCase()) {
          throw new Fault('the result is not that of the transaction', { expected: hash, actual: describe(answer) })
        }
      })
    }
  }),

  clause('eth-rpc.types.block-tags', (check) => {
    for (const tag of ['latest', 'pending']) {
      check(`"${tag}" is accepted`, async (t) => {
        await expectDiscerning(t)
        balanceIn(await t.rpc.call('eth_getBalance', [sampleAddress, tag]))
      })
    }

    // It is documented not to work as expected, so an error of the service's own is no violation. To call a documented
    // value a bad parameter is one.
    check('"earliest" is not refused as a bad parameter', async (t) => {
      await expectDiscerning(t)
      balanceIn(await t.rpc.call('eth_getBalance', [sampleAddress, 'latest']))
      const answer = await t.rpc.call('eth_getBalance', [sampleAddress, 'earliest'])
      const error = objectOf(answer)?.['error'] as { code?: unknown } | null | undefined
      if (error?.code === -32602) {
        throw new Fault('"earliest" is refused as a bad parameter', {
          expected: 'a balance, or an error other than -32602',
          actual: describe(answer),
        })
      }
      if (answer.failure) throw new Fault('there is no answer', { expected: 'an answer', actual: describe(answer) })
    })
  }),

  clause('eth-rpc.types.block-number', (check) => {
    check('the number of a young block is accepted', async (t) => {
      const block = quantity(await readHead(t.chain))
      const [account = sampleAddress] = await accountsOf(t)
      const truth = numberOf(await t.chain.send('eth_getBalance', [account, block]))
      // A target that is a block behind does not know it at once.
      const balance = balanceIn(
        await eventually(
          t,
          () => t.rpc.call('eth_getBalance', [account, block]),
          (answer) => numberOf(objectOf(answer)?.['result']) === truth,
        ),
      )
      if (balance !== truth) {
        throw new Fault('the balance at that block is another', { expected: `${truth}`, actual: `${balance}` })
      }
    })
  }),
]
