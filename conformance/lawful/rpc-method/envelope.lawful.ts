import type { ClauseId } from '../../../specs/index.ts'
import {
  defineLawful,
  type Handler,
  hangUp,
  type Lawful,
  respond,
  respondText,
  withJson,
} from '../../altered/define.ts'
import { rpcErrorsBy } from '../../altered/lib/answers.ts'
import { alterRequest, alterResponses, blocksBehind, lagging, refuse, type RpcBody } from '../../altered/lib/rpc.ts'

const shape = 'eth-rpc 2: "Response envelope … not shown"'

const clauses: readonly [ClauseId, ...ClauseId[]] = [
  'eth-rpc.methods.unlisted-refused',
  'eth-rpc.response.error-object',
  'eth-rpc.response.error-codes',
  'eth-rpc.response.envelope',
  'eth-rpc.eth_getBalance.bad-params',
]
const others: readonly ClauseId[] = [
  'eth-rpc.response.error-object',
  'eth-rpc.response.error-codes',
  'eth-rpc.response.envelope',
  'eth-rpc.response.id-echo',
]
const badParams: readonly ClauseId[] = [
  'eth-rpc.eth_blockNumber.bad-params',
  'eth-rpc.eth_chainId.bad-params',
  'eth-rpc.eth_gasPrice.bad-params',
  'eth-rpc.eth_getBalance.bad-params',
  'eth-rpc.eth_getLogs.bad-params',
  'eth-rpc.eth_getTransactionByHash.bad-params',
  'eth-rpc.eth_getTransactionReceipt.bad-params',
  'eth-rpc.eth_maxPriorityFeePerGas.bad-params',
]

function erring(id: string, form: Parameters<typeof rpcErrorsBy>[0], more: readonly ClauseId[] = []): Lawful {
  return defineLawful({
    id: `errs-${id}`,
    clauses,
    allowedBy:
      'eth-rpc 7: "Error codes, error object shape and behavior for unsupported methods or bad parameters: not shown"',
    mayFail: [...others, ...more, 'eth-rpc.batch'],
    rpc: rpcErrorsBy(form),
  })
}

const whole = (error: unknown, id: unknown) => ({ jsonrpc: '2.0', id, error })

/** Answers some requests of a batch in another way. Single requests pass unaltered. */
function eachOfABatch(when: (body: RpcBody) => boolean, answer: Handler): Handler {
  return async (request, forward, tools) => {
    if (!Array.isArray(request.json) || request.json.length === 0) return forward(request)
    const answers: unknown[] = []
    for (const json of request.json as RpcBody[]) {
      const one = withJson(request, json)
      answers.push((await (when(json) ? answer(one, forward, tools) : forward(one))).json)
    }
    return respond(200, answers)
  }
}

export default [
  defineLawful({
    id: 'answers-without-jsonrpc-and-id',
    clauses: ['eth-rpc.envelope.version', 'eth-rpc.envelope.id-integer', 'eth-rpc.response.envelope'],
    allowedBy: shape,
    mayFail: ['eth-rpc.response.envelope', 'eth-rpc.response.id-echo', 'eth-rpc.batch'],
    rpc: alterResponses(({ jsonrpc: _version, id: _id, ...answer }) => answer),
  }),
  defineLawful({
    id: 'refuses-with-an-id-of-its-own',
    clauses: ['eth-rpc.envelope.id-integer', 'eth-rpc.response.id-echo'],
    allowedBy: 'eth-rpc 7: "error object shape and behavior for unsupported methods or bad parameters: not shown"',
    mayFail: ['eth-rpc.response.id-echo', 'eth-rpc.response.envelope', 'eth-rpc.batch'],
    rpc: alterResponses((answer) => ('error' in answer ? { ...answer, id: 0 } : answer)),
  }),
  defineLawful({
    id: 'echoes-ids-as-strings',
    clauses: ['eth-rpc.envelope.id-integer', 'eth-rpc.response.id-echo'],
    allowedBy: shape,
    mayFail: ['eth-rpc.response.id-echo', 'eth-rpc.batch'],
    rpc: alterResponses((answer) => ({ ...answer, id: String(answer['id']) })),
  }),
  defineLawful({
    id: 'adds-members-to-the-envelope',
    clauses: ['eth-rpc.response.envelope', 'eth-rpc.envelope.version', 'eth-rpc.endpoint.post'],
    allowedBy: shape,
    rpc: alterResponses((answer) => ({ cached: false, took: 0.5, ...answer, meta: { node: 'a', result: null } })),
  }),
  defineLawful({
    id: 'says-error-null-beside-each-result',
    clauses: ['eth-rpc.response.envelope', 'eth-rpc.endpoint.post'],
    allowedBy: shape,
    mayFail: ['eth-rpc.response.envelope'],
    rpc: alterResponses((answer) => ({ error: null, ...answer })),
  }),
  defineLawful({
    id: 'says-result-null-beside-each-error',
    clauses: ['eth-rpc.response.envelope', 'eth-rpc.methods.unlisted-refused'],
    allowedBy: shape,
    mayFail: ['eth-rpc.response.envelope'],
    rpc: alterResponses((answer) => ('error' in answer ? { ...answer, result: null } : answer)),
  }),
  defineLawful({
    id: 'wants-all-four-members',
    clauses: ['eth-rpc.envelope.params-empty', 'eth-rpc.envelope.version', 'eth-rpc.clients'],
    allowedBy: 'eth-rpc 2: id, jsonrpc, method and params are required',
    mayFail: ['eth-rpc.clients'],
    rpc: refuse(-32600, (body) => !['id', 'jsonrpc', 'method', 'params'].every((name) => name in body)),
  }),
  defineLawful({
    id: 'wants-integer-ids',
    clauses: ['eth-rpc.envelope.id-integer', 'eth-rpc.response.id-echo', 'eth-rpc.clients'],
    allowedBy: 'eth-rpc 2: id is an integer',
    mayFail: ['eth-rpc.clients', 'eth-rpc.response.id-echo'],
    rpc: refuse(-32600, ({ id }) => typeof id === 'string'),
  }),
  defineLawful({
    id: 'takes-listed-envelope-members-alone',
    clauses: ['eth-rpc.endpoint.standard-format', 'eth-rpc.envelope.version'],
    allowedBy: 'eth-rpc 2 lists the members of the envelope; that others are taken is not shown',
    rpc: refuse(-32600, (body) =>
      Object.keys(body).some((name) => !['id', 'jsonrpc', 'method', 'params'].includes(name)),
    ),
  }),
  defineLawful({
    id: 'takes-params-by-name-too',
    clauses: [
      'eth-rpc.envelope.params-positional',
      'eth-rpc.eth_getBalance.bad-params',
      'eth-rpc.eth_blockNumber.bad-params',
      'eth-rpc.eth_chainId.bad-params',
      'eth-rpc.eth_gasPrice.bad-params',
      'eth-rpc.eth_maxPriorityFeePerGas.bad-params',
    ],
    allowedBy: 'eth-rpc 2: params is an array; what an object means is not shown',
    mayFail: [
      'eth-rpc.eth_getBalance.bad-params',
      'eth-rpc.eth_blockNumber.bad-params',
      'eth-rpc.eth_chainId.bad-params',
      'eth-rpc.eth_gasPrice.bad-params',
      'eth-rpc.eth_maxPriorityFeePerGas.bad-params',
      'eth-rpc.eth_getLogs.bad-params',
      'eth-rpc.eth_getTransactionByHash.bad-params',
      'eth-rpc.eth_getTransactionReceipt.bad-params',
    ],
    rpc: alterRequest((body) => {
      const { params } = body
      const isNamed = typeof params === 'object' && params !== null && !Array.isArray(params)
      return isNamed ? { ...body, params: [] } : body
    }),
  }),
  defineLawful({
    id: 'serves-no-batches',
    clauses: ['eth-rpc.batch', 'eth-rpc.endpoint.standard-format'],
    allowedBy: 'eth-rpc 2: the request is a JSON object',
    mayFail: ['eth-rpc.batch'],
    rpc: async (request, forward) =>
      Array.isArray(request.json) ? respond(400, { error: 'one request at a time' }) : forward(request),
  }),
  defineLawful({
    id: 'answers-batches-in-another-order',
    clauses: ['eth-rpc.batch'],
    allowedBy: 'JSON-RPC 2.0, 6: the responses of a batch may be in any order',
    async rpc(request, forward) {
      const response = await forward(request)
      return Array.isArray(response.json) ? respond(200, response.json.toReversed()) : response
    },
  }),
  defineLawful({
    id: 'serves-numbers-alone-in-batches',
    clauses: ['eth-rpc.batch', 'eth-rpc.eth_getLogs.max-1000'],
    allowedBy: 'eth-rpc 1 and 2: the request is a JSON object; what of a batch is refused is not shown',
    rpc: eachOfABatch(
      (body) => /^eth_get(Logs|Transaction)/.test(String(body['method'])),
      refuse(-32000, () => true),
    ),
  }),
  defineLawful({
    id: 'answers-batches-by-a-node-that-is-behind',
    clauses: ['eth-rpc.batch'],
    allowedBy: 'eth-rpc 4: of which moment an answer is, is not shown',
    rpc: eachOfABatch(() => true, lagging(blocksBehind(2n))),
  }),
  defineLawful({
    id: 'refuses-ids-that-a-double-does-not-hold',
    clauses: ['eth-rpc.envelope.id-integer'],
    // Debatable: "any such id is accepted"; a refusal is no wrong echo, and 2^53 is where clients end as well.
    allowedBy: 'eth-rpc 7: an id that the service cannot hold exactly is refused, not altered',
    rpc: refuse(-32600, ({ id }) => typeof id === 'bigint'),
  }),

  ...[400, 404, 405, 422, 501].map((status) =>
    erring(`with-${status}`, (error, id) => respond(status, whole(error, id)), status >= 500 ? badParams : []),
  ),
  erring('with-500', (error, id) => respond(500, whole(error, id)), badParams),
  erring('with-a-text-for-an-object', (error, id) => respond(200, whole(error.message, id))),
  erring('with-another-code', (error, id) => respond(200, whole({ ...error, code: -32000 }, id))),
  erring('with-a-code-that-is-text', (error, id) => respond(200, whole({ ...error, code: 'BAD' }, id))),
  erring('without-a-message', (error, id) => respond(200, whole({ code: error.code }, id))),
  erring('with-data', (error, id) => respond(200, whole({ ...error, data: { reason: 'x' } }, id))),
  erring('without-an-id', (error) => respond(200, { jsonrpc: '2.0', id: null, error })),
  erring('in-text', () => respondText(400, 'Bad Request', { 'content-type': 'text/plain' })),
  erring('in-html', () => respondText(404, '<h1>Not Found</h1>', { 'content-type': 'text/html' })),
  erring('with-an-empty-body', () => respondText(400, '')),
  erring('with-a-json-string', () => respond(400, 'unknown method')),
  erring('with-a-list-of-errors', (error) => respond(400, { errors: [error] })),
  erring('with-a-result-of-null', (_error, id) => respond(200, { jsonrpc: '2.0', id, result: null }), badParams),
  erring('by-closing-the-connection', () => hangUp, badParams),
]
