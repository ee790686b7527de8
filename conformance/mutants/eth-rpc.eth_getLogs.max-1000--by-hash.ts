import { defineMutant, respond } from './define.ts'
import { filterOf, type RpcBody } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.max-1000',
  fault: 'a block by its hash is not cut into pages',
  rpc: async (request, forward, tools) => {
    const body = (request.json ?? {}) as RpcBody
    const filter = filterOf(body)
    if (typeof filter?.['blockHash'] !== 'string') return forward(request)
    return respond(200, { jsonrpc: '2.0', id: body['id'], result: await tools.chain('eth_getLogs', [filter]) })
  },
})
