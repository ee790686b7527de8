import { clause } from '../../lib/clause.ts'
import { expectChainId, expectServed } from '../../lib/eth-rpc/serve.ts'
import { isWithoutMeaning } from '../../lib/eth-rpc/prices.ts'
import { inStandardFormat } from '../../lib/eth-rpc/sample-requests.ts'

export default [
  clause('eth-rpc.endpoint.post', (check) => {
    check('POST of the request envelope is the successful operation', async (t) => {
      const { answer } = await expectChainId(t)
      if (answer.status !== 200) t.observe(`the successful operation is HTTP ${answer.status}`)
    })
  }),

  clause('eth-rpc.endpoint.standard-format', (check) => {
    const of = 'eth-rpc.endpoint.standard-format'
    // The order of members and the white space have no meaning in JSON.
    const spellings: Readonly<Record<string, string>> = {
      'in the order that ethers uses': '{"method":"eth_chainId","params":[],"id":7,"jsonrpc":"2.0"}',
      'in the order that web3 uses': '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}',
      'laid out over lines': '{\n  "id": 7,\n  "jsonrpc": "2.0",\n  "method": "eth_chainId",\n  "params": []\n}\n',
    }
    for (const [name, body] of Object.entries(spellings)) {
      check(`members ${name}`, async (t) => void (await expectChainId(t, { of, ask: () => t.rpc.sendRaw(body) })))
    }

    check('each listed method, as a node is asked for it', async (t) => {
      await expectChainId(t)
      for (const { method, params } of await inStandardFormat(t)) {
        if (!(await isWithoutMeaning(t, method))) await expectServed(t, method, params)
      }
    })
  }),
]
