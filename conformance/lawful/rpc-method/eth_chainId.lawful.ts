import { defineLawful } from '../../altered/define.ts'

const allowedBy = 'eth-rpc 4: "Chain identifier query": the size of an identifier is not shown'

export default [1, 4_000_000_007, 2 ** 40 + 1, Number.MAX_SAFE_INTEGER].map((chainId) =>
  defineLawful({
    id: `runs-on-the-chain-${chainId}`,
    clauses: ['eth-rpc.eth_chainId.success', 'relay.execute.bad-signature', 'relay.execute.post'],
    allowedBy,
    environment: { chain: { chainId } },
  }),
)
