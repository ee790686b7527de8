import { alterRequest, type RpcBody } from '../../altered/lib/rpc.ts'
import { defineMutant, type Handler, mapResponses, respond, withJson } from '../../altered/define.ts'

/** The unlisted methods that a check tries first. */
const often = new Set([
  'eth_syncing',
  'net_version',
  'eth_accounts',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_getTransactionCount',
  'web3_clientVersion',
  'eth_sendRawTransaction',
])

/** Other methods of the standard and of many nodes. */
const beyond = [
  'eth_getBlockByHash',
  'eth_getBlockTransactionCountByNumber',
  'eth_getCode',
  'eth_getStorageAt',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_getBlockReceipts',
  'eth_getProof',
  'eth_newBlockFilter',
  'eth_sendTransaction',
  'eth_sign',
  'net_listening',
  'web3_sha3',
  'debug_traceTransaction',
  'txpool_status',
]

const listed = [
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
]

/** The listed name that the server makes of this one; the same name when it makes none. */
function spelt({ method }: RpcBody, normal: (name: string) => string): unknown {
  if (typeof method !== 'string') return method
  return listed.find((name) => normal(name) === normal(method)) ?? method
}

/** Hands some methods to the node, which has a result for them. */
function serves(isServed: (method: string) => boolean): Handler {
  return async (request, forward, tools) => {
    const { method, params, id } = (request.json ?? {}) as RpcBody
    if (typeof method !== 'string' || listed.includes(method) || !isServed(method)) return forward(request)
    const result = await tools.chain(method, Array.isArray(params) ? params : []).catch(() => undefined)
    return result === undefined ? forward(request) : respond(200, { jsonrpc: '2.0', id, result })
  }
}

export default [
  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    fault: 'eth_syncing, which is not listed, is handed to the node',
    rpc: async (request, forward, tools) => {
      const body = request.json as { id?: unknown; method?: unknown } | null
      if (body?.method !== 'eth_syncing') return forward(request)
      return respond(200, { jsonrpc: '2.0', id: body.id, result: await tools.chain('eth_syncing') })
    },
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'empty',
    fault: 'an unknown method has an empty result instead of an error',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        (answer['error'] as { code?: unknown } | undefined)?.code === -32601
          ? { jsonrpc: '2.0', id: answer['id'], result: {} }
          : answer,
      ),
  }),

  ...beyond.map((method) =>
    defineMutant({
      clause: 'eth-rpc.methods.unlisted-refused',
      name: method.toLowerCase().replaceAll('_', '-'),
      fault: `${method}, which is not listed, has a result`,
      rpc: async (request, forward) => {
        const body = (request.json ?? {}) as RpcBody
        return body['method'] === method
          ? respond(200, { jsonrpc: '2.0', id: body['id'], result: '0x1' })
          : forward(request)
      },
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'beyond-the-usual',
    fault: 'every unlisted method is handed to the node, but for nine that are often tried',
    rpc: serves((asked) => !often.has(asked)),
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'raw-transactions',
    fault: 'eth_sendRawTransaction is handed to the node, which refuses what the suite sends',
    rpc: async (request, forward, tools) => {
      const { method, params, id } = (request.json ?? {}) as RpcBody
      if (method !== 'eth_sendRawTransaction' || !Array.isArray(params)) return forward(request)
      return tools.chain(method, params).then(
        (result) => respond(200, { jsonrpc: '2.0', id, result }),
        ({ message }: Error) => respond(200, { jsonrpc: '2.0', id, error: { code: -32000, message } }),
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'any-case',
    fault: 'names are taken in any case of their letters',
    rpc: alterRequest((body) => ({ ...body, method: spelt(body, (name) => name.toLowerCase()) })),
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'trimmed',
    fault: 'names are taken with white space around them',
    rpc: alterRequest((body) => ({ ...body, method: spelt(body, (name) => name.trim()) })),
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'in-a-batch',
    fault: 'in a batch unlisted methods are handed to the node',
    async rpc(request, forward, tools) {
      if (!Array.isArray(request.json)) return forward(request)
      const one = serves((asked) => !often.has(asked) || asked === 'eth_syncing' || asked === 'net_version')
      const answers: unknown[] = []
      for (const json of request.json as unknown[])
        answers.push((await one(withJson(request, json), forward, tools)).json)
      return answers.length === 0 ? forward(request) : respond(200, answers)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.methods.unlisted-refused',
    name: 'false',
    fault: 'an unknown method has the result false',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        (answer['error'] as { code?: unknown } | undefined)?.code === -32601
          ? { jsonrpc: '2.0', id: answer['id'], result: false }
          : answer,
      ),
  }),
]
