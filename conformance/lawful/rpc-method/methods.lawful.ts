import { defineLawful, hangUp, respond } from '../../altered/define.ts'

const listed = new Set([
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
])

function isListed(json: unknown): boolean {
  const { method } = (json ?? {}) as { method?: unknown }
  return typeof method !== 'string' || listed.has(method)
}

const allowedBy = 'eth-rpc 7: "behavior for unsupported methods …: not shown"'

export default [
  defineLawful({
    id: 'closes-the-connection-at-unlisted-methods',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail: [
      'eth-rpc.response.envelope',
      'eth-rpc.response.error-object',
      'eth-rpc.response.error-codes',
      'eth-rpc.response.id-echo',
    ],
    rpc: async (request, forward) => (isListed(request.json) ? forward(request) : hangUp),
  }),
  defineLawful({
    id: 'asks-for-a-token-at-unlisted-methods',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail: [
      'eth-rpc.response.envelope',
      'eth-rpc.response.error-object',
      'eth-rpc.response.error-codes',
      'eth-rpc.response.id-echo',
    ],
    rpc: async (request, forward) =>
      isListed(request.json)
        ? forward(request)
        : respond(401, { message: 'token needed' }, { 'www-authenticate': 'Bearer' }),
  }),
]
