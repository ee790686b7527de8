import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectDiscerning } from '../../lib/eth-rpc/discerning.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { Fault } from '../../lib/outcome.ts'

export default [
  clause('eth-rpc.eth_maxPriorityFeePerGas.success', (check) => {
    // Any fee is possible, zero among them.
    check('is a fee', async (t) => {
      await expectDiscerning(t)
      const answer = await t.rpc.call('eth_maxPriorityFeePerGas')
      if (numberOf(served(answer)) === undefined) {
        throw new Fault('the result is no number', { expected: 'a fee in wei', actual: describe(answer) })
      }
    })
  }),

  clause('eth-rpc.eth_maxPriorityFeePerGas.result-schema', (check) => {
    check('is a quantity', async (t) => {
      const result = served(await t.rpc.call('eth_maxPriorityFeePerGas'))
      expectResultSchema(t, 'eth_maxPriorityFeePerGas', result)
    })
  }),

  badParams('eth_maxPriorityFeePerGas', async () => [], unexpectedParams),
]
