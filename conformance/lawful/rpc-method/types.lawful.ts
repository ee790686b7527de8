import { isAddress } from 'ethers'
import { defineLawful, respond, type Lawful } from '../../altered/define.ts'
import {
  alterParams,
  alterRequest,
  alterResult,
  filterOf,
  numbersAs,
  refuse,
  type RpcBody,
} from '../../altered/lib/rpc.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'

const results = 'eth-rpc 2: "Response envelope and result fields of each method: not shown"'

/** The clauses on the form of results, which are recommended. */
const schemas = [
  'eth-rpc.eth_blockNumber.result-schema',
  'eth-rpc.eth_chainId.result-schema',
  'eth-rpc.eth_gasPrice.result-schema',
  'eth-rpc.eth_getBalance.result-schema',
  'eth-rpc.eth_getLogs.result-schema',
  'eth-rpc.eth_getTransactionByHash.result-schema',
  'eth-rpc.eth_getTransactionReceipt.result-schema',
  'eth-rpc.eth_maxPriorityFeePerGas.result-schema',
] as const

const scalars: Lawful['clauses'] = [
  'eth-rpc.eth_blockNumber.success',
  'eth-rpc.eth_chainId.success',
  'eth-rpc.eth_gasPrice.success',
  'eth-rpc.eth_getBalance.success',
  'eth-rpc.eth_maxPriorityFeePerGas.success',
  'eth-rpc.types.block-number',
  'eth-rpc.types.address',
  'eth-rpc.eth_blockNumber.result-schema',
  'eth-rpc.eth_chainId.result-schema',
  'eth-rpc.eth_gasPrice.result-schema',
  'eth-rpc.eth_getBalance.result-schema',
  'eth-rpc.eth_maxPriorityFeePerGas.result-schema',
]

function isBalanceAt(tag: unknown, { method, params }: RpcBody): boolean {
  return method === 'eth_getBalance' && Array.isArray(params) && params[1] === tag
}

const earliest = '"earliest" "does not work as expected" (eth-rpc 4); what is answered is not shown'

export default [
  defineLawful({
    id: 'writes-numbers-in-capitals',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    rpc: numbersAs((hex) => `0x${hex.slice(2).toUpperCase()}`),
  }),
  defineLawful({
    id: 'pads-numbers',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    rpc: numbersAs((hex) => `0x${hex.slice(2).padStart(64, '0')}`),
  }),
  // Debatable: "hex strings" of the pages shows that hex may come bare; of other results nothing is shown.
  defineLawful({
    id: 'writes-numbers-as-bare-hex',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    rpc: numbersAs((hex) => hex.slice(2)),
  }),
  // Debatable: "integer block number" (eth-rpc 2) may be a JSON integer in answers as well.
  defineLawful({
    id: 'writes-numbers-as-json-integers',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    rpc: numbersAs((hex) => BigInt(hex)),
  }),

  // Debatable like the one above: JSON knows one kind of number.
  defineLawful({
    id: 'writes-numbers-with-an-exponent',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    rpc: numbersAs((hex) => new NumberLiteral(`${BigInt(hex)}e0`)),
  }),

  defineLawful({
    id: 'refuses-earliest-as-bad',
    clauses: ['eth-rpc.types.block-tags', 'eth-rpc.eth_getBalance.success'],
    allowedBy: earliest,
    rpc: refuse(-32602, (body) => isBalanceAt('earliest', body)),
  }),
  defineLawful({
    id: 'errs-at-earliest',
    clauses: ['eth-rpc.types.block-tags', 'eth-rpc.eth_getBalance.success'],
    allowedBy: earliest,
    rpc: refuse(-32000, (body) => isBalanceAt('earliest', body)),
  }),
  defineLawful({
    id: 'has-null-at-earliest',
    clauses: ['eth-rpc.types.block-tags', 'eth-rpc.eth_getBalance.success'],
    allowedBy: earliest,
    rpc: alterResult('eth_getBalance', (balance, body) => (isBalanceAt('earliest', body) ? null : balance)),
  }),
  defineLawful({
    id: 'has-nothing-at-earliest',
    clauses: ['eth-rpc.types.block-tags', 'eth-rpc.eth_getBalance.success'],
    allowedBy: earliest,
    rpc: alterResult('eth_getBalance', (balance, body) => (isBalanceAt('earliest', body) ? '0x0' : balance)),
  }),
  defineLawful({
    id: 'fails-at-earliest-with-404',
    clauses: ['eth-rpc.types.block-tags'],
    allowedBy: earliest,
    rpc: async (request, forward) =>
      isBalanceAt('earliest', (request.json ?? {}) as RpcBody)
        ? respond(404, { error: 'block not found' })
        : forward(request),
  }),
  defineLawful({
    id: 'takes-pending-for-latest',
    clauses: ['eth-rpc.types.block-tags', 'eth-rpc.eth_getBalance.success'],
    allowedBy: 'eth-rpc 4: what "pending" means beyond the head is not shown; a node without a pool has nothing there',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      block === 'pending' ? 'latest' : block,
      ...rest,
    ]),
  }),
  defineLawful({
    id: 'takes-block-numbers-as-json-integers-too',
    clauses: ['eth-rpc.types.block-number', 'eth-rpc.eth_getBalance.bad-params'],
    allowedBy: 'eth-rpc 2: "Integer block number"',
    mayFail: ['eth-rpc.eth_getBalance.bad-params'],
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      typeof block === 'number' && Number.isSafeInteger(block) && block >= 0 ? `0x${block.toString(16)}` : block,
      ...rest,
    ]),
  }),
  defineLawful({
    id: 'takes-the-latest-block-where-none-is-named',
    clauses: ['eth-rpc.envelope.params-positional', 'eth-rpc.eth_getBalance.bad-params'],
    allowedBy: 'eth-rpc 7: "behavior for … bad parameters: not shown"',
    mayFail: ['eth-rpc.eth_getBalance.bad-params'],
    rpc: alterRequest((body) => {
      const { method, params } = body
      const isShort = method === 'eth_getBalance' && Array.isArray(params) && params.length === 1
      return isShort ? { ...body, params: [...(params as unknown[]), 'latest'] } : body
    }),
  }),
  defineLawful({
    id: 'finds-hashes-without-0x-too',
    clauses: ['eth-rpc.types.hash', 'eth-rpc.eth_getTransactionByHash.bad-params'],
    allowedBy: 'eth-rpc 2: Data is a "hex-encoded byte string" of 32 bytes; whether 0x stands before it is not shown',
    mayFail: ['eth-rpc.eth_getTransactionByHash.bad-params', 'eth-rpc.eth_getTransactionReceipt.bad-params'],
    rpc: alterRequest((body) => {
      const { params } = body
      if (!Array.isArray(params) || !/^eth_getTransaction/.test(String(body['method']))) return body
      const [hash, ...rest] = params as unknown[]
      return { ...body, params: [/^[0-9a-f]{64}$/i.test(String(hash)) ? `0x${String(hash)}` : hash, ...rest] }
    }),
  }),
  defineLawful({
    id: 'writes-numbers-as-decimal-text',
    clauses: scalars,
    allowedBy: results,
    mayFail: schemas,
    environment: { options: ['--fuzz', '30', '--seed', '3'] },
    rpc: numbersAs((hex) => BigInt(hex).toString()),
  }),
  defineLawful({
    id: 'refuses-addresses-with-a-wrong-checksum',
    clauses: ['eth-rpc.types.address', 'eth-rpc.eth_getBalance.success', 'eth-rpc.eth_getLogs.success'],
    allowedBy: 'EIP-55: letters of both cases are a checksum',
    rpc: refuse(-32602, (body) => {
      const { params } = body
      const [first] = Array.isArray(params) ? (params as unknown[]) : []
      const address = filterOf(body)?.['address'] ?? first
      return typeof address === 'string' && /^0x[0-9a-f]{40}$/i.test(address) && !isAddress(address)
    }),
  }),
  defineLawful({
    id: 'finds-hashes-in-small-letters-alone',
    clauses: ['eth-rpc.types.hash'],
    allowedBy: 'eth-rpc 1: "in the exact format of an Ethereum node", which writes hashes in small letters',
    rpc: refuse(
      -32602,
      ({ method, params }) =>
        /^eth_getTransaction/.test(String(method)) && Array.isArray(params) && /[A-F]/.test(String(params[0])),
    ),
  }),
]
