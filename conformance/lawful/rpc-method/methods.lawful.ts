import { randomUUID } from 'node:crypto'
import { defineLawful, hangUp, respond } from '../../altered/define.ts'
import { alterResponses } from '../../altered/lib/rpc.ts'

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

/** A server that refuses without a JSON-RPC error breaks the recommended clauses on the form of errors. */
const mayFail = [
  'eth-rpc.response.envelope',
  'eth-rpc.response.error-object',
  'eth-rpc.response.error-codes',
  'eth-rpc.response.id-echo',
] as const

export default [
  defineLawful({
    id: 'closes-the-connection-at-unlisted-methods',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail,
    rpc: async (request, forward) => (isListed(request.json) ? forward(request) : hangUp),
  }),
  defineLawful({
    id: 'asks-for-a-token-at-unlisted-methods',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail,
    rpc: async (request, forward) =>
      isListed(request.json)
        ? forward(request)
        : respond(401, { message: 'token needed' }, { 'www-authenticate': 'Bearer' }),
  }),
  defineLawful({
    id: 'refuses-unlisted-methods-with-404-and-an-empty-result',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail,
    rpc: async (request, forward) =>
      isListed(request.json) ? forward(request) : respond(404, { message: 'Unknown method', result: '', status: '0' }),
  }),
  defineLawful({
    id: 'refuses-unlisted-methods-with-an-error-beside-an-empty-result',
    clauses: ['eth-rpc.methods.unlisted-refused', 'eth-rpc.response.envelope'],
    allowedBy,
    mayFail: ['eth-rpc.response.envelope', 'eth-rpc.batch'],
    rpc: alterResponses((answer) =>
      (answer['error'] as { code?: unknown } | undefined)?.code === -32601 ? { ...answer, result: {} } : answer,
    ),
  }),
  defineLawful({
    id: 'names-each-refusal',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    rpc: alterResponses((answer) => {
      const { code, message } = (answer['error'] ?? {}) as { code?: unknown; message?: unknown }
      const named = { code, message: `${String(message)} (${randomUUID()})` }
      return code === -32601 ? { ...answer, error: named } : answer
    }),
  }),
  defineLawful({
    id: 'repeats-what-it-refuses',
    clauses: ['eth-rpc.methods.unlisted-refused'],
    allowedBy,
    mayFail,
    rpc: async (request, forward) =>
      isListed(request.json)
        ? forward(request)
        : respond(400, { message: `no such method: ${JSON.stringify(request.json)}` }),
  }),
  defineLawful({
    id: 'takes-batches-of-three-at-most',
    clauses: ['eth-rpc.methods.unlisted-refused', 'eth-rpc.batch'],
    allowedBy: 'eth-rpc 8: "Rate limits: not shown"; JSON-RPC 2.0, 6: how long a batch may be is not shown',
    rpc: async (request, forward) =>
      Array.isArray(request.json) && request.json.length > 3
        ? respond(413, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'a batch of three at most' } })
        : forward(request),
  }),
]
