import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { expectChainId } from '../../lib/eth-rpc/expect-chain-id.ts'
import { inStandardFormat } from '../../lib/eth-rpc/standard-requests.ts'

export default [
  clause('eth-rpc.endpoint.post', (check) => {
    check('POST of the request envelope is the successful operation', async (t) => {
      await expectChainId(t, await t.rpc.send({ id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }))
    })
  }),

  clause('eth-rpc.endpoint.standard-format', (check) => {
    // The order of members, white space and the parameters of a content type mean nothing in the standard's format.
    const spellings: Readonly<Record<string, string>> = {
      'in the order that ethers uses': '{"method":"eth_chainId","params":[],"id":7,"jsonrpc":"2.0"}',
      'in the order that web3 uses': '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}',
      'laid out over lines': '{\n  "id": 7,\n  "jsonrpc": "2.0",\n  "method": "eth_chainId",\n  "params": []\n}\n',
    }
    for (const [name, body] of Object.entries(spellings)) {
      check(`members ${name}`, async (t) => expectChainId(t, await t.rpc.sendRaw(body)))
    }

    check('a content type that names its charset', async (t) => {
      const headers = { 'content-type': 'application/json; charset=utf-8' }
      await expectChainId(
        t,
        await t.rpc.sendRaw('{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}', { headers }),
      )
    })

    check('each listed method, as a node is asked for it', async (t) => {
      await expectChainId(t, await t.rpc.call('eth_chainId'))
      for (const { method, params } of await inStandardFormat(t)) served(await t.rpc.call(method, params))
    })
  }),
]
