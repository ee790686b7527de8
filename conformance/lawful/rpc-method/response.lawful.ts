import type { ClauseId } from '../../../specs/index.ts'
import { defineLawful, hangUp, respond, respondText, type Lawful } from '../../altered/define.ts'
import { rpcErrorsBy } from '../../altered/lib/refusals.ts'

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

export default [
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
