import { defineMutant, mapResponses } from '../../altered/define.ts'
import { alterResult, asksEarly, nullForBadParams, sharedAtOnce } from '../../altered/lib/rpc.ts'

type Found = Readonly<Record<string, unknown>>

const method = 'eth_getTransactionByHash'
const clause = 'eth-rpc.eth_getTransactionByHash.success'

/** The quantity plus one. */
function more(quantity: unknown): string {
  return `0x${(BigInt(String(quantity)) + 1n).toString(16)}`
}

/** A fault in transactions of one kind: those whose member has this value. */
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

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.success',
    fault: 'another sender',
    rpc: alterResult(
      'eth_getTransactionByHash',
      (found) => found && { ...(found as Record<string, unknown>), from: `0x${'11'.repeat(20)}` },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.success',
    name: 'nothing',
    fault: 'no transaction is ever found',
    rpc: alterResult('eth_getTransactionByHash', () => null),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.success',
    name: 'other',
    fault: 'the first transaction that was asked for is given for every hash',
    rpc: async (request, forward, { memory }) => {
      const body = request.json as { method?: unknown; params?: unknown } | null
      if (body?.method !== 'eth_getTransactionByHash') return forward(request)
      const response = await forward(request)
      const { result } = (response.json ?? {}) as { result?: unknown }
      if (result && !memory.has('first')) memory.set('first', response)
      return result ? (memory.get('first') as typeof response) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.unknown',
    fault: 'an error instead of null for an unknown hash',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if ((request.json as { method?: unknown } | null)?.method !== 'eth_getTransactionByHash') return response
      return mapResponses(response, (answer) =>
        answer['result'] === null
          ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
          : answer,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.result-schema',
    fault: 'the nonce is a JSON number',
    rpc: alterResult('eth_getTransactionByHash', (found) => {
      const transaction = found as Record<string, unknown> | null
      return transaction && { ...transaction, nonce: Number(transaction['nonce']) }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.bad-params',
    fault: 'null instead of an error for a malformed hash',
    rpc: nullForBadParams('eth_getTransactionByHash'),
  }),

  ...(
    [
      [
        'through-a-double',
        'the value is rounded through a double',
        (found) => ({ ...found, value: `0x${BigInt(Number(found['value'])).toString(16)}` }),
      ],
      ['value', 'the value is one wei too high', (found) => ({ ...found, value: more(found['value']) })],
      ['nonce', 'the nonce is one too high', (found) => ({ ...found, nonce: more(found['nonce']) })],
      ['block', 'the block is the one after', (found) => ({ ...found, blockNumber: more(found['blockNumber']) })],
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
        'input-cut',
        'input of more than a kilobyte is cut',
        (found) => ({ ...found, input: String(found['input']).slice(0, 2050) }),
      ],
      ['price', 'the price is one wei too high', (found) => ({ ...found, gasPrice: more(found['gasPrice']) })],
      ['type', 'every transaction is of type 2', (found) => ({ ...found, type: '0x2' })],
      ['gas', 'the gas limit is one too high', (found) => ({ ...found, gas: more(found['gas']) })],
      ['signature', 'r and s change places', (found) => ({ ...found, r: found['s'], s: found['r'] })],
      [
        'as-pending',
        'every transaction is given as one that waits to be mined',
        (found) => ({ ...found, blockHash: null, blockNumber: null, transactionIndex: null }),
      ],
    ] as const satisfies readonly (readonly [string, string, (found: Found) => Found])[]
  ).map(([name, fault, alter]) =>
    defineMutant({ clause, name, fault, rpc: alterResult(method, (found) => found && alter(found as Found)) }),
  ),

  ...(
    [
      [
        'legacy',
        'the price of a legacy transaction is one wei too high',
        'type',
        '0x0',
        (found) => ({ ...found, gasPrice: more(found['gasPrice']) }),
      ],
      [
        'legacy-nonce',
        'the nonce of a legacy transaction is one too high',
        'type',
        '0x0',
        (found) => ({ ...found, nonce: more(found['nonce']) }),
      ],
      [
        'creation',
        'a transaction that creates a contract names an address it goes to',
        'to',
        null,
        (found) => ({ ...found, to: `0x${'00'.repeat(20)}` }),
      ],
      [
        'creation-input',
        'a transaction that creates a contract has no input',
        'to',
        null,
        (found) => ({ ...found, input: '0x' }),
      ],
    ] as const satisfies readonly Kind[]
  ).flatMap(ofKind),

  defineMutant({
    clause,
    name: 'unknown-for-ever',
    fault: 'a transaction that was asked for before the node had it is unknown for ever',
    whole: true,
    ...asksEarly(method, 500, { answer: () => null, isForEver: true }),
  }),

  defineMutant({
    clause,
    name: 'pending-for-ever',
    fault: 'a transaction that was asked for while it waited to be mined waits for ever',
    whole: true,
    ...asksEarly(method, 500, {
      answer: (found) => found && { ...(found as Found), blockHash: null, blockNumber: null, transactionIndex: null },
      isForEver: true,
    }),
  }),

  defineMutant({
    clause,
    name: 'shared-at-once',
    fault: 'requests for transactions at the same time get the transaction of the first',
    rpc: sharedAtOnce(method),
  }),

  ...(
    [
      [
        'access-list',
        'the access list is empty',
        (found) => ('accessList' in found ? { ...found, accessList: [] } : found),
      ],
      [
        'fees',
        'both fees are the price',
        (found) => ('maxFeePerGas' in found ? { ...found, maxPriorityFeePerGas: found['maxFeePerGas'] } : found),
      ],
      [
        'parity',
        'the parity of the signature is that of the other one',
        (found) => ({ ...found, yParity: found['yParity'] === '0x1' ? '0x0' : '0x1' }),
      ],
    ] as const satisfies readonly (readonly [string, string, (found: Found) => Found])[]
  ).map(([name, fault, alter]) =>
    defineMutant({ clause, name, fault, rpc: alterResult(method, (found) => found && alter(found as Found)) }),
  ),
]
