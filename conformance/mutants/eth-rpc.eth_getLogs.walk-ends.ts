import { defineMutant, mapResponses } from './define.ts'
import { pagingOf, type RpcBody } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.walk-ends',
  fault: 'an error instead of an empty page after the last log',
  rpc: async (request, forward) => {
    const response = await forward(request)
    if (!pagingOf((request.json ?? {}) as RpcBody)) return response
    return mapResponses(response, (answer) =>
      Array.isArray(answer['result']) && answer['result'].length === 0
        ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'no more logs' } }
        : answer,
    )
  },
})
