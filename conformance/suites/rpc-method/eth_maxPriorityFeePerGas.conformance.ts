import { clause } from '../../lib/clause.ts'
import { badParams, expectResultSchema, unexpectedParams } from '../../lib/eth-rpc/method-clauses.ts'
import { expectNumber } from '../../lib/eth-rpc/serve.ts'
import { isWithoutMeaning, knownPrices } from '../../lib/eth-rpc/prices.ts'
import { resultOf } from '../../lib/expect.ts'
import { Fault } from '../../lib/outcome.ts'

const method = 'eth_maxPriorityFeePerGas'

/** A fee may be this many times above the highest tip that was paid. A wrong unit is off by more. */
const plausibleFactor = 20n
/** What nodes may suggest where nobody has paid a tip yet. The least tip of some chains is 25 gwei (Polygon). */
const usualMostWei = 40_000_000_000n

export default [
  clause('eth-rpc.eth_maxPriorityFeePerGas.success', (check) => {
    check('is a fee', async (t) => {
      if (await isWithoutMeaning(t, method)) return
      await expectNumber(t, method, [], 'a fee in wei')
    })

    check('is plausible beside the tips that transactions paid', { needs: ['chain'] }, async (t) => {
      if (await isWithoutMeaning(t, method)) return
      const { answer, readings } = await expectNumber(t, method, [], 'a fee in wei')
      const { tip, price } = await knownPrices(t)
      // On a chain without base fees, nodes that serve the method return the whole price.
      const { lowest, highest } = tip ?? price
      const plausible = highest * plausibleFactor
      const most = plausible > usualMostWei ? plausible : usualMostWei
      // A node may suggest any lower fee: where blocks have room, nobody needs to tip.
      if (readings.some((fee) => fee <= most)) return
      throw new Fault('the result is no plausible fee in wei', {
        expected: `at most ${most}: known tips are ${lowest} to ${highest} wei`,
        actual: `${readings[0]}`,
        answer,
      })
    })
  }),

  clause('eth-rpc.eth_maxPriorityFeePerGas.result-schema', (check) => {
    check('is a quantity', async (t) => {
      expectResultSchema(t, method, resultOf(await t.rpc.call(method)))
    })
  }),

  badParams(method, async () => [], unexpectedParams),
]
