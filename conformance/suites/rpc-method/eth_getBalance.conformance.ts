import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { isServed, served } from '../../lib/expect-rpc.ts'
import { accountsOf } from '../../lib/eth-rpc/accounts.ts'
import { badParams } from '../../lib/eth-rpc/bad-params.ts'
import { balanceSteps, balancesBetween } from '../../lib/eth-rpc/balances.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { bracketed } from '../../lib/eth-rpc/head.ts'
import { numberOf, quantity } from '../../lib/eth-rpc/quantity.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { sampleAddress } from '../../lib/eth-rpc/samples.ts'
import { Fault } from '../../lib/outcome.ts'

export default [
  clause('eth-rpc.eth_getBalance.success', (check) => {
    check('at a fixed block: as on the chain, before and after a change', async (t) => {
      for (const { address, block, balance } of await balanceSteps(t)) {
        const answer = await eventually(t, () => t.rpc.call('eth_getBalance', [address, quantity(block)]), isServed)
        const found = numberOf(served(answer))
        if (found !== balance) {
          throw new Fault(`the balance of ${address} at block ${block} is not that of the chain`, {
            expected: `${balance}`,
            actual: found === undefined ? describe(answer) : `${found}`,
          })
        }
      }
    })

    check('at latest: as on the chain at a head of the moment', async (t) => {
      const [address = sampleAddress] = await accountsOf(t)
      const ask = async () => {
        const asked = await bracketed(t.chain, async () =>
          numberOf(served(await t.rpc.call('eth_getBalance', [address, 'latest']))),
        )
        return { found: asked.value, truth: await balancesBetween(t.chain, address, asked.before, asked.after) }
      }
      const { found, truth } = await eventually(
        t,
        ask,
        ({ found, truth }) => found !== undefined && truth.includes(found),
      )
      if (found === undefined || !truth.includes(found)) {
        throw new Fault(`the balance of ${address} is not that of the chain`, {
          expected: [...new Set(truth)].join(' or '),
          actual: `${found}`,
        })
      }
    })
  }),

  clause('eth-rpc.eth_getBalance.earliest', (check) => {
    check('what "earliest" answers', async (t) => {
      const [address = sampleAddress] = await accountsOf(t)
      const answer = await t.rpc.call('eth_getBalance', [address, 'earliest'])
      t.observe(`eth_getBalance of ${address} at "earliest": ${describe(answer)}`)
    })
  }),

  clause('eth-rpc.eth_getBalance.result-schema', (check) => {
    check('is a quantity of at most 256 bits', async (t) => {
      const [address = sampleAddress] = await accountsOf(t)
      expectResultSchema(t, 'eth_getBalance', served(await t.rpc.call('eth_getBalance', [address, 'latest'])))
    })
  }),

  badParams('eth_getBalance', async () => [sampleAddress, 'latest'], [
    { fault: 'no parameters', spoil: () => [] },
    { fault: 'a parameter too many', spoil: (good) => [...good, 'latest'] },
    { fault: 'an address of 19 bytes', spoil: ([, block]) => [sampleAddress.slice(0, -2), block] },
    { fault: 'an address of 21 bytes', spoil: ([, block]) => [`${sampleAddress}00`, block] },
    { fault: 'an address that is not hex', spoil: ([, block]) => [`${sampleAddress.slice(0, -1)}g`, block] },
    { fault: 'a number instead of an address', spoil: ([, block]) => [1, block] },
    { fault: 'a block that is neither number nor tag', spoil: ([address]) => [address, 'newest'] },
    { fault: 'a boolean instead of a block', spoil: ([address]) => [address, true] },
    {
      fault: 'parameters by name instead of by position',
      spoil: ([address, block]) => ({ address, block }),
    },
  ]),
]
