import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.methods.unlisted-refused',
  fault: 'eth_syncing, which is not listed, is handed to the node',
  rpc: async (request, forward, tools) => {
    const body = request.json as { id?: unknown; method?: unknown } | null
    if (body?.method !== 'eth_syncing') return forward(request)
    return respond(200, { jsonrpc: '2.0', id: body.id, result: await tools.chain('eth_syncing') })
  },
})
