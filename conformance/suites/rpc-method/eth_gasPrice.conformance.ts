import { clause } from '../../lib/clause.ts'
import { resultOf } from '../../lib/expect.ts'
import { badParams, expectResultSchema, unexpectedParams } from '../../lib/eth-rpc/method-clauses.ts'
import { expectNumber } from '../../lib/eth-rpc/serve.ts'
import { knownPrices } from '../../lib/eth-rpc/prices.ts'
import { Fault } from '../../lib/outcome.ts'

/**
 * A price may be this many times below the lowest or above the highest price that was paid, since it may be an
 * average over blocks that the check does not read. A wrong unit is off by more.
 */
const plausibleFactor = 20n

export default [
  clause('eth-rpc.eth_gasPrice.success', (check) => {
    check('is a price', async (t) => void (await expectNumber(t, 'eth_gasPrice', [], 'a price in wei')))

    check('is plausible beside what transactions paid', { needs: ['chain'] }, async (t) => {
      const { answer, readings } = await expectNumber(t, 'eth_gasPrice', [], 'a price in wei')
      const { lowest, highest } = (await knownPrices(t)).price
      const [least, most] = [lowest / plausibleFactor, highest * plausibleFactor]
      // On a chain without fees a price of zero is right. On any other chain it is wrong.
      if (readings.some((price) => price >= least && price <= most && (price > 0n || lowest === 0n))) return
      throw new Fault('the result is no plausible price in wei', {
        expected: `above zero, and between ${least} and ${most}: known prices are ${lowest} to ${highest} wei`,
        actual: `${readings[0]}`,
        answer,
      })
    })
  }),

  clause('eth-rpc.eth_gasPrice.result-schema', (check) => {
    check('is a quantity', async (t) => {
      expectResultSchema(t, 'eth_gasPrice', resultOf(await t.rpc.call('eth_gasPrice')))
    })
  }),

  badParams('eth_gasPrice', async () => [], unexpectedParams),
]
