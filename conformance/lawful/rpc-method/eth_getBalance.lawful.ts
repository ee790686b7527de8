import { isAddress } from 'ethers'
import { defineLawful, type AlteredRequest, type AlteredTools } from '../../altered/define.ts'
import { alterResult, headOf, refuse, type RpcBody } from '../../altered/lib/rpc.ts'

/** Whether the request asks for a balance that has stood since the first block. */
async function isOfGenesis({ json }: AlteredRequest, { chain }: AlteredTools): Promise<boolean> {
  const { method, params } = (json ?? {}) as RpcBody
  if (method !== 'eth_getBalance' || !Array.isArray(params) || params.length !== 2) return false
  const [address, block] = params as unknown[]
  if (typeof block !== 'string' || !/^0x[0-9a-f]+$/i.test(block)) return false
  try {
    const [first, then] = await Promise.all(['0x0', block].map((at) => chain('eth_getBalance', [address, at])))
    return first === then && first !== '0x0'
  } catch {
    return false
  }
}

/** Whether the address holds coin, has sent a transaction, or is a contract. */
async function isKnown(address: string, { chain }: AlteredTools): Promise<boolean> {
  const found = await Promise.all(
    ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) => chain(method, [address, 'latest'])),
  )
  return found.some((value) => !/^0x0*$/.test(String(value)))
}

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
  ...(
    [
      ['has-nothing-of-genesis-balances', alterResult('eth_getBalance', () => '0x0')],
      ['refuses-genesis-balances', refuse(-32000, () => true)],
    ] as const
  ).map(([id, answer]) =>
    defineLawful({
      id,
      clauses: ['eth-rpc.eth_getBalance.success', 'eth-rpc.types.block-number'],
      allowedBy: 'eth-rpc 4: "genesis block balances are not imported": nor is what has not changed since then',
      async rpc(request, forward, tools) {
        return ((await isOfGenesis(request, tools)) ? answer : forward)(request, forward, tools)
      },
    }),
  ),
  defineLawful({
    id: 'has-null-for-blocks-beyond-the-head',
    clauses: ['eth-rpc.eth_getBalance.success', 'eth-rpc.types.block-number'],
    allowedBy: 'eth-rpc 7: what is answered for a block that is not there yet is not shown',
    async rpc(request, forward, tools) {
      const head = await headOf(tools)
      return alterResult('eth_getBalance', (balance, { params }) => {
        const block = (params as unknown[])[1]
        return typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) && BigInt(block) > head ? null : balance
      })(request, forward, tools)
    },
  }),
  defineLawful({
    id: 'knows-no-balance-of-nobody',
    clauses: ['eth-rpc.eth_getBalance.success', 'eth-rpc.types.block-tags', 'eth-rpc.envelope.params-positional'],
    // Debatable: an account that was never used has nothing; a service that indexes balances has none of it.
    allowedBy: 'eth-rpc 7: what is answered for an address that the chain has never seen is not shown',
    async rpc(request, forward, tools) {
      const { method, params } = (request.json ?? {}) as RpcBody
      const [address] = Array.isArray(params) ? (params as unknown[]) : []
      const isAsked = method === 'eth_getBalance' && isAddress(address) && !(await isKnown(address, tools))
      return isAsked ? refuse(-32000, () => true)(request, forward, tools) : forward(request)
    },
  }),
]
