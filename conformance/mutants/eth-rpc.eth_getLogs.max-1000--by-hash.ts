import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.max-1000',
  fault: 'a block by its hash is not cut into pages',
  rpc: async (request, forward, tools) => {
    const body = request.json as { id?: unknown; method?: unknown; params?: readonly { blockHash?: unknown }[] } | null
    const filter = body?.method === 'eth_getLogs' ? body.params?.[0] : undefined
    if (typeof filter?.blockHash !== 'string') return forward(request)
    return respond(200, { jsonrpc: '2.0', id: body?.id, result: await tools.chain('eth_getLogs', [filter]) })
  },
})
