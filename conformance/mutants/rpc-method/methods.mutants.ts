import { defineMutant, mapResponses, respond } from '../../altered/define.ts'

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
]
