import { clause } from '../../lib/clause.ts'
import { resultOf } from '../../lib/expect.ts'
import { badParams, expectResultSchema, unexpectedParams } from '../../lib/eth-rpc/method-clauses.ts'
import { expectChainId } from '../../lib/eth-rpc/serve.ts'

export default [
  clause('eth-rpc.eth_chainId.success', (check) => {
    check('is the id of the chain', async (t) => void (await expectChainId(t)))
  }),

  clause('eth-rpc.eth_chainId.result-schema', (check) => {
    check('is a quantity', async (t) => {
      expectResultSchema(t, 'eth_chainId', resultOf(await t.rpc.call('eth_chainId')))
    })
  }),

  badParams('eth_chainId', async () => [], unexpectedParams),
]
