import { clause } from '../../lib/clause.ts'
import { resultOf } from '../../lib/expect.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectChainId } from '../../lib/eth-rpc/expect-number.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'

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
