import { defineLawful } from '../../altered/define.ts'
import { refuse } from '../../altered/lib/rpc.ts'

export default [
  // Debatable: a block that long ago has no state in most nodes, and the document knows of balances that are missing.
  defineLawful({
    id: 'keeps-balances-of-young-blocks-alone',
    clauses: ['eth-rpc.eth_getBalance.success', 'eth-rpc.types.block-number'],
    allowedBy: 'eth-rpc 4: genesis balances are not imported; how far back others are kept is not shown',
    async rpc(request, forward, tools) {
      const head = BigInt(String(await tools.chain('eth_blockNumber')))
      return refuse(-32000, ({ method, params }) => {
        const block: unknown = method === 'eth_getBalance' && Array.isArray(params) ? params[1] : undefined
        return typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) && BigInt(block) + 64n < head
      })(request, forward, tools)
    },
  }),
  defineLawful({
    id: 'refuses-blocks-beyond-the-head',
    clauses: ['eth-rpc.eth_getBalance.success', 'eth-rpc.types.block-number'],
    allowedBy: 'eth-rpc 7: what is answered for a block that is not there yet is not shown',
    async rpc(request, forward, tools) {
      const head = BigInt(String(await tools.chain('eth_blockNumber')))
      return refuse(-32602, ({ method, params }) => {
        const block: unknown = method === 'eth_getBalance' && Array.isArray(params) ? params[1] : undefined
        return typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) && BigInt(block) > head + 1n
      })(request, forward, tools)
    },
  }),
]
