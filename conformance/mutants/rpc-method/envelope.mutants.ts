import { defineMutant, type Handler, mapResponses, respond } from '../../altered/define.ts'
import { mixedUp } from '../../altered/lib/answers.ts'
import { alterParams, alterRequest, alterResponses, refuse, type RpcBody } from '../../altered/lib/rpc.ts'

/** Alters the results of each method in a batch. `results` are those of the method, in the order of its requests. */
function alterBatch(alter: (results: readonly unknown[], method: unknown) => readonly unknown[]): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (!Array.isArray(request.json) || !Array.isArray(response.json)) return response
    const bodies = request.json as RpcBody[]
    const served = (response.json as RpcBody[]).filter((answer) => 'result' in answer)
    const byId = new Map(served.map((answer) => [answer['id'], answer['result']] as const))
    for (const method of new Set(bodies.map((body) => body['method']))) {
      const ids = bodies.flatMap((body) => (body['method'] === method && byId.has(body['id']) ? [body['id']] : []))
      const results = alter(
        ids.map((id) => byId.get(id)),
        method,
      )
      for (const [index, id] of ids.entries()) byId.set(id, results[index])
    }
    return mapResponses(response, (answer) =>
      'result' in answer ? { ...answer, result: byId.get(answer['id']) } : answer,
    )
  }
}

type Results = (results: readonly unknown[]) => readonly unknown[]

const turned: Results = ([first, ...rest]) => [...rest, first]

export default [
  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    fault: 'the id 0 is taken for no id',
    rpc: refuse(-32600, ({ id }) => id === 0),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'beyond-32-bits',
    fault: 'an id beyond 32 bits is refused',
    rpc: refuse(-32600, ({ id }) => typeof id === 'number' && id > 0xffffffff),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.version',
    fault: 'jsonrpc must be "1.0"',
    async rpc(request, forward, tools) {
      const { jsonrpc } = (request.json ?? {}) as { jsonrpc?: unknown }
      if (jsonrpc === '2.0') return refuse(-32600, () => true)(request, forward, tools)
      return alterRequest((body) => (jsonrpc === '1.0' ? { ...body, jsonrpc: '2.0' } : body))(request, forward, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.params-positional',
    fault: 'the parameters of eth_getBalance are taken in reverse',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [block, address, ...rest]),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.params-empty',
    fault: 'eth_maxPriorityFeePerGas refuses an empty array',
    rpc: refuse(
      -32602,
      ({ method, params }) => method === 'eth_maxPriorityFeePerGas' && Array.isArray(params) && params.length === 0,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'beyond-a-double',
    fault: 'an id beyond 2^53 comes back as another number',
    rpc: alterResponses((answer) =>
      typeof answer['id'] === 'bigint' ? { ...answer, id: BigInt(Number(answer['id'])) } : answer,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'negative',
    fault: 'a negative id is refused',
    rpc: refuse(-32600, ({ id }) => typeof id === 'number' && id < 0),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.params-empty',
    name: 'prices',
    fault: 'eth_gasPrice is served with an object for params alone',
    rpc: refuse(-32602, ({ method, params }) => method === 'eth_gasPrice' && Array.isArray(params)),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.params-empty',
    name: 'all',
    fault: 'an empty array is refused, and no params at all are wanted',
    rpc: refuse(-32602, ({ params }) => Array.isArray(params) && params.length === 0),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'wraps-at-32-bits',
    fault: 'an id beyond 32 bits comes back without its upper ones',
    rpc: alterResponses((answer) =>
      typeof answer['id'] === 'number' ? { ...answer, id: answer['id'] % 0x100000000 } : answer,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'of-the-request-before',
    fault: 'a response carries the id of the request before',
    async rpc(request, forward, tools) {
      const response = await forward(request)
      return mapResponses(response, (answer) => {
        const before = tools.memory.get('id') ?? answer['id']
        tools.memory.set('id', answer['id'])
        return { ...answer, id: before }
      })
    },
  }),

  defineMutant({
    clause: 'eth-rpc.batch',
    fault: 'a batch is answered by its first response alone',
    rpc: async (request, forward) => {
      const response = await forward(request)
      return Array.isArray(response.json) ? respond(response.status, response.json[0]) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.batch',
    name: 'empty',
    fault: 'an empty batch is answered by an empty array',
    rpc: (request, forward) =>
      Array.isArray(request.json) && request.json.length === 0 ? Promise.resolve(respond(200, [])) : forward(request),
  }),

  defineMutant({
    clause: 'eth-rpc.batch',
    name: 'zeros',
    fault: 'in a batch each result is zero',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if (!Array.isArray(request.json)) return response
      return mapResponses(response, (answer) => ('result' in answer ? { ...answer, result: '0x0' } : answer))
    },
  }),

  ...(
    [
      [
        'first-of-its-method',
        'each request gets the result of the first of its method',
        'eth_',
        ([first, ...rest]) => [first, ...rest.map(() => first)],
      ],
      ['balances-turned', 'balances go to the next request', 'eth_getBalance', turned],
      ['receipts-turned', 'receipts go to the next request', 'eth_getTransactionReceipt', turned],
      ['transactions-turned', 'transactions go to the next request', 'eth_getTransactionByHash', turned],
      ['logs-turned', 'logs go to the next request', 'eth_getLogs', turned],
      ['no-receipts', 'receipts are null', 'eth_getTransactionReceipt', (results) => results.map(() => null)],
      ['no-logs', 'eth_getLogs selects nothing', 'eth_getLogs', (results) => results.map(() => [])],
    ] as const satisfies readonly (readonly [string, string, string, Results])[]
  ).map(([name, fault, which, alter]) =>
    defineMutant({
      clause: 'eth-rpc.batch',
      name,
      fault: `in a batch ${fault}`,
      rpc: alterBatch((results, method) => (String(method).startsWith(which) ? alter(results) : results)),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.envelope.id-integer',
    name: 'mixed-up',
    fault: 'of requests that come at once each gets the id of the last',
    rpc: mixedUp((response, { id }) => mapResponses(response, (answer) => ({ ...answer, id })), 'id'),
  }),

  defineMutant({
    clause: 'eth-rpc.response.envelope',
    fault: 'jsonrpc is left out of the response',
    rpc: async (request, forward) => mapResponses(await forward(request), ({ jsonrpc: _left, ...answer }) => answer),
  }),

  defineMutant({
    clause: 'eth-rpc.response.envelope',
    name: 'both',
    fault: 'every response has both result and error, one of them null',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) => ({ result: null, error: null, ...answer })),
  }),

  defineMutant({
    clause: 'eth-rpc.response.id-echo',
    fault: 'the id comes back as a string',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) => ({ ...answer, id: String(answer['id']) })),
  }),

  defineMutant({
    clause: 'eth-rpc.response.error-object',
    fault: 'the error is a string',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        'error' in answer ? { ...answer, error: (answer['error'] as { message: string }).message } : answer,
      ),
  }),

  defineMutant({
    clause: 'eth-rpc.response.error-codes',
    fault: 'every error has the code -32000',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        'error' in answer ? { ...answer, error: { ...(answer['error'] as object), code: -32000 } } : answer,
      ),
  }),
]
