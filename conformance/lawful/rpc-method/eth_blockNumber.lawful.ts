import { defineLawful } from '../../altered/define.ts'
import { alterResult, blocksBehind, lagging, timeBehind } from '../../altered/lib/rpc.ts'

/** The head this many blocks before. */
const behind = (blocks: bigint) => (head: unknown) => {
  const number = BigInt(String(head))
  return `0x${(number > blocks ? number - blocks : 0n).toString(16)}`
}

export default [
  // Debatable: the head of which node, and of which moment, is not shown; a service that follows is a block behind.
  defineLawful({
    id: 'answers-the-block-before-the-head',
    clauses: ['eth-rpc.eth_blockNumber.success'],
    allowedBy: 'eth-rpc 4: "Block number query": that the number is of the same moment is not shown',
    rpc: alterResult('eth_blockNumber', behind(1n)),
  }),
  defineLawful({
    id: 'keeps-the-head-for-a-second',
    clauses: ['eth-rpc.eth_blockNumber.success'],
    allowedBy: 'eth-rpc 4: "Block number query": that the number is of the same moment is not shown',
    async rpc(request, forward, { memory }) {
      const body = request.json as { method?: unknown; id?: unknown } | null
      if (body?.method !== 'eth_blockNumber' || !/"params":\s*\[\]/.test(request.text)) return forward(request)
      const kept = memory.get('kept') as { atMs: number; result: unknown } | undefined
      const { result } =
        kept && Date.now() - kept.atMs < 1000
          ? kept
          : { result: ((await forward(request)).json as { result?: unknown }).result }
      if (result !== kept?.result || !kept) memory.set('kept', { atMs: Date.now(), result })
      const json = { jsonrpc: '2.0', id: body.id, result }
      return { status: 200, headers: { 'content-type': 'application/json' }, json, text: JSON.stringify(json) }
    },
  }),
  defineLawful({
    id: 'runs-on-a-chain-with-a-block-a-second',
    clauses: ['eth-rpc.eth_blockNumber.success', 'relay.execute.post', 'relay.quota.total-is-available-plus-used'],
    allowedBy: 'neither document says how often blocks are mined',
    environment: { chain: { blockTimeSeconds: 1 } },
  }),
  defineLawful({
    id: 'runs-on-a-chain-with-a-block-every-three-seconds',
    clauses: ['eth-rpc.eth_blockNumber.success', 'relay.execute.post', 'relay.quota.total-is-available-plus-used'],
    allowedBy: 'neither document says how often blocks are mined',
    environment: { chain: { blockTimeSeconds: 3 } },
  }),
  defineLawful({
    id: 'runs-on-a-chain-with-strangers',
    clauses: ['eth-rpc.eth_blockNumber.success', 'eth-rpc.eth_getBalance.success', 'eth-rpc.eth_getLogs.success'],
    allowedBy: 'neither document says that nobody else uses the chain',
    environment: { chain: { strangers: true } },
  }),
  defineLawful({
    id: 'runs-on-a-slow-chain-with-strangers',
    clauses: ['eth-rpc.eth_blockNumber.success', 'eth-rpc.eth_getBalance.success', 'relay.execute.post'],
    allowedBy: 'neither document says that nobody else uses the chain',
    environment: { chain: { strangers: true, blockTimeSeconds: 2 } },
  }),
  ...(
    [
      ['waits-for-two-blocks-on-top', blocksBehind(2n), {}],
      ['waits-for-two-blocks-on-top-among-strangers', blocksBehind(2n), { strangers: true }],
      ['learns-of-blocks-a-second-and-a-half-late', timeBehind(1500), {}],
      ['learns-of-blocks-a-second-and-a-half-late-among-strangers', timeBehind(1500), { strangers: true }],
      ['errs-for-a-second-and-a-half-at-young-blocks', timeBehind(1500), { blockTimeSeconds: 1 }, 'error'],
      ['errs-for-a-second-at-young-blocks-of-a-fast-chain', timeBehind(1000), { blockTimeSeconds: 0.25 }, 'error'],
    ] as const
  ).map(([id, knownHead, chain, ignorance]) =>
    defineLawful({
      id,
      clauses: [
        'eth-rpc.eth_blockNumber.success',
        'eth-rpc.eth_getBalance.success',
        'eth-rpc.eth_getLogs.success',
        'eth-rpc.eth_getTransactionByHash.success',
        'eth-rpc.eth_getTransactionReceipt.success',
        'eth-rpc.types.block-number',
      ],
      allowedBy: 'eth-rpc 4: of which moment an answer is, is not shown',
      environment: { chain },
      rpc: lagging(knownHead, ignorance),
    }),
  ),
]
