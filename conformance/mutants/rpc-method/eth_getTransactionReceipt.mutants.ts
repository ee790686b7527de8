import { defineMutant, mapResponses, type AlteredTools } from '../../altered/define.ts'
import { alterResult, asksEarly, nullForBadParams, sharedAtOnce } from '../../altered/lib/rpc.ts'

type Found = Readonly<Record<string, unknown>>

const method = 'eth_getTransactionReceipt'
const clause = 'eth-rpc.eth_getTransactionReceipt.success'

/** The quantity plus one. */
function more(quantity: unknown): string {
  return `0x${(BigInt(String(quantity)) + 1n).toString(16)}`
}

/** A fault in receipts of one kind: those whose member has this value. */
type Kind = readonly [name: string, fault: string, member: string, value: string | null, alter: (found: Found) => Found]

/** The fault on the testbed's chain, and on a chain where no transaction of the kind was mined for long. */
function ofKind([name, fault, member, value, alter]: Kind) {
  const rpc = alterResult(method, (found) => {
    const isOfKind = found !== null && (found as Found)[member] === value
    return isOfKind ? alter(found as Found) : found
  })
  return [
    defineMutant({ clause, name, fault, rpc }),
    defineMutant({
      clause,
      name: `${name}-on-a-quiet-chain`,
      fault: `on a quiet chain ${fault}`,
      environment: { chain: { emptyBlocks: 100 } },
      rpc,
    }),
  ]
}

/** Waits until a young block has two transactions with logs. */
async function untilTwoEmitInABlock({ chain, memory }: AlteredTools): Promise<void> {
  while (!memory.has('two emit')) {
    const head = Number(await chain('eth_blockNumber'))
    const logs = (await chain('eth_getLogs', [{ fromBlock: `0x${(head - 3).toString(16)}` }])) as Found[]
    const hashes = logs.map(({ blockNumber, transactionHash }) => `${String(blockNumber)} ${String(transactionHash)}`)
    const isSeen = new Set(hashes).size > new Set(logs.map(({ blockNumber }) => blockNumber)).size
    if (isSeen) memory.set('two emit', true)
    else await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.success',
    fault: 'more gas than was used',
    rpc: alterResult(
      'eth_getTransactionReceipt',
      (found) => found && { ...(found as Record<string, unknown>), gasUsed: '0xffffff' },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.success',
    name: 'nothing',
    fault: 'no receipt is ever found',
    rpc: alterResult('eth_getTransactionReceipt', () => null),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.success',
    name: 'logs',
    fault: 'without its logs',
    rpc: alterResult(
      'eth_getTransactionReceipt',
      (found) => found && { ...(found as Record<string, unknown>), logs: [] },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.unknown',
    fault: 'an error instead of null for an unknown hash',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if ((request.json as { method?: unknown } | null)?.method !== 'eth_getTransactionReceipt') return response
      return mapResponses(response, (answer) =>
        answer['result'] === null
          ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
          : answer,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.result-schema',
    fault: 'the status is a JSON number',
    rpc: alterResult('eth_getTransactionReceipt', (found) => {
      const receipt = found as Record<string, unknown> | null
      return receipt && { ...receipt, status: Number(receipt['status']) }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.bad-params',
    fault: 'null instead of an error for a malformed hash',
    rpc: nullForBadParams('eth_getTransactionReceipt'),
  }),

  ...(
    [
      ['block', 'the block is the one after', (found) => ({ ...found, blockNumber: more(found['blockNumber']) })],
      ['sender', 'sender and receiver change places', (found) => ({ ...found, from: found['to'], to: found['from'] })],
      [
        'price',
        'the price is ten times what was paid',
        (found) => ({ ...found, effectiveGasPrice: `${String(found['effectiveGasPrice'])}0` }),
      ],
      [
        'cumulative',
        'the gas of the block is that of the transaction and a bit more',
        (found) => ({ ...found, cumulativeGasUsed: more(found['cumulativeGasUsed']) }),
      ],
      [
        'index',
        'the place in the block is the one after',
        (found) => ({ ...found, transactionIndex: more(found['transactionIndex']) }),
      ],
      [
        'always-first',
        'every transaction is said to be the first of its block',
        (found) => ({ ...found, transactionIndex: '0x0' }),
      ],
      [
        'cumulative-alone',
        'the gas of the block is that of the transaction alone',
        (found) => ({ ...found, cumulativeGasUsed: found['gasUsed'] }),
      ],
      ['no-receiver', 'the receiver is left empty', (found) => ({ ...found, to: null })],
      [
        'contract-of-calls',
        'every receipt names the receiver as a contract that was created',
        (found) => ({ ...found, contractAddress: found['contractAddress'] ?? found['to'] }),
      ],
      ['bloom', 'the bloom filter is empty', (found) => ({ ...found, logsBloom: `0x${'00'.repeat(256)}` })],
      [
        'log-topics',
        'its logs have their first topic alone',
        (found) => ({
          ...found,
          logs: (found['logs'] as Found[]).map((log) => ({ ...log, topics: (log['topics'] as unknown[]).slice(0, 1) })),
        }),
      ],
      ['failed', 'every transaction has failed', (found) => ({ ...found, status: '0x0' })],
      [
        'log-data-cut',
        'the data of its logs is cut after a kilobyte',
        (found) => ({
          ...found,
          logs: (found['logs'] as Found[]).map((log) => ({ ...log, data: String(log['data']).slice(0, 2050) })),
        }),
      ],
    ] as const satisfies readonly (readonly [string, string, (found: Found) => Found])[]
  ).map(([name, fault, alter]) =>
    defineMutant({ clause, name, fault, rpc: alterResult(method, (found) => found && alter(found as Found)) }),
  ),

  ...(
    [
      ['reverted', 'a reverted transaction has succeeded', 'status', '0x0', (found) => ({ ...found, status: '0x1' })],
      [
        'creation',
        'the contract that a transaction created is left out',
        'to',
        null,
        (found) => ({ ...found, contractAddress: null }),
      ],
      [
        'legacy',
        'the price of a legacy transaction is one wei too high',
        'type',
        '0x0',
        (found) => ({ ...found, effectiveGasPrice: more(found['effectiveGasPrice']) }),
      ],
    ] as const satisfies readonly Kind[]
  ).flatMap(ofKind),

  defineMutant({
    clause,
    name: 'log-index',
    fault: 'its logs are counted from zero',
    // Blocks hold more than one transaction, so that indices do not begin at zero anyway.
    environment: { chain: { strangers: true, blockTimeSeconds: 3 } },
    async rpc(request, forward, tools) {
      await untilTwoEmitInABlock(tools)
      return alterResult(method, (found) => {
        if (found === null) return null
        const logs = (found as Found)['logs'] as Found[]
        return {
          ...(found as Found),
          logs: logs.map((log, index) => ({ ...log, logIndex: `0x${index.toString(16)}` })),
        }
      })(request, forward, tools)
    },
  }),

  defineMutant({
    clause,
    name: 'own-calls',
    fault: 'the receipts of transactions that were sent through POST /execute are not found',
    whole: true,
    async execute(request, forward, { memory }) {
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      memory.set(`sent ${String(transactionHash)}`, true)
      return response
    },
    rpc: (request, forward, tools) =>
      alterResult(method, (found) =>
        tools.memory.has(`sent ${String((found as Found | null)?.['transactionHash'])}`) ? null : found,
      )(request, forward, tools),
  }),

  defineMutant({
    clause,
    name: 'unknown-for-ever',
    fault: 'a receipt that was asked for before the block was there is unknown for ever',
    whole: true,
    ...asksEarly(method, 500, { answer: () => null, isForEver: true }),
  }),

  defineMutant({
    clause,
    name: 'shared-at-once',
    fault: 'requests for receipts at the same time get the receipt of the first',
    rpc: sharedAtOnce(method),
  }),

  ...(
    [
      [
        'own-gas',
        'the gas of the block up to it is its own alone',
        (found) => ({ ...found, cumulativeGasUsed: found['gasUsed'] }),
      ],
      ['no-bloom', 'the bloom of its logs is empty', (found) => ({ ...found, logsBloom: `0x${'00'.repeat(256)}` })],
    ] as const satisfies readonly (readonly [string, string, (found: Found) => Found])[]
  ).map(([name, fault, alter]) =>
    defineMutant({ clause, name, fault, rpc: alterResult(method, (found) => found && alter(found as Found)) }),
  ),
]
