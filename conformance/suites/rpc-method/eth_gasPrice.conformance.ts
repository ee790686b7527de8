import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectDiscerning } from '../../lib/eth-rpc/discerning.ts'
import { recentPrices } from '../../lib/eth-rpc/recent-prices.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { Fault } from '../../lib/outcome.ts'

/** Averages may be of any span and kind. What is off by more than this is another unit: gwei for wei is 10^9. */
const plausibleFactor = 10_000n

export default [
  clause('eth-rpc.eth_gasPrice.success', (check) => {
    check('is a price', async (t) => {
      await expectDiscerning(t)
      const answer = await t.rpc.call('eth_gasPrice')
      if (numberOf(served(answer)) === undefined) {
        throw new Fault('the result is no number', { expected: 'a price in wei', actual: describe(answer) })
      }
    })

    check('is plausible beside what recent blocks cost', { needs: ['chain'] }, async (t) => {
      const price = numberOf(served(await t.rpc.call('eth_gasPrice'))) ?? 0n
      const { lowest, highest } = await recentPrices(t.chain)
      const [least, most] = [lowest / plausibleFactor, highest * plausibleFactor]
      // A chain without fees has a price of zero; on any other, nobody gets in for nothing.
      if (price < least || price > most || (price === 0n && lowest > 0n)) {
        throw new Fault('the result is no plausible price in wei', {
          expected: `above zero, and between ${least} and ${most}: recent prices are ${lowest} to ${highest} wei`,
          actual: `${price}`,
        })
      }
    })
  }),

  clause('eth-rpc.eth_gasPrice.result-schema', (check) => {
    check('is a quantity', async (t) => {
      expectResultSchema(t, 'eth_gasPrice', served(await t.rpc.call('eth_gasPrice')))
    })
  }),

  badParams('eth_gasPrice', async () => [], unexpectedParams),
]
