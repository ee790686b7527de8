import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { hasResult } from '../../lib/expect-rpc.ts'
import { requireServed } from '../../lib/eth-rpc/expect-refused.ts'
import { inventedMethod, sampleAddress } from '../../lib/eth-rpc/samples.ts'
import { Fault } from '../../lib/outcome.ts'

/** Signed for a chain that is nobody's (id 0x7fffffff) by a key that holds nothing: a node refuses it as well. */
const foreignTransaction =
  '0xf86480843b9aca00825208945aaeb6053f3e94c9b9a09f33669435e7ef1beaed808085010000002180' +
  'a01111111111111111111111111111111111111111111111111111111111111111' +
  'a02222222222222222222222222222222222222222222222222222222222222222'

/** What nodes serve and the document does not list; none of them changes anything. */
const unlisted: Readonly<Record<string, readonly unknown[]>> = {
  eth_syncing: [],
  net_version: [],
  eth_accounts: [],
  eth_call: [{ to: sampleAddress, data: '0x' }, 'latest'],
  eth_getBlockByNumber: ['latest', false],
  eth_getTransactionCount: [sampleAddress, 'latest'],
  web3_clientVersion: [],
  eth_sendRawTransaction: [foreignTransaction],
  [inventedMethod]: [],
}

export default [
  clause('eth-rpc.methods.unlisted-refused', (check) => {
    for (const [method, params] of Object.entries(unlisted)) {
      check(`${method} yields no result`, async (t) => {
        requireServed(await t.rpc.call('eth_chainId'))
        const answer = await t.rpc.call(method, params)
        if (hasResult(answer)) {
          throw new Fault(`${method} is not in the list and yields a result`, {
            expected: 'no result',
            actual: describe(answer),
          })
        }
      })
    }
  }),
]
