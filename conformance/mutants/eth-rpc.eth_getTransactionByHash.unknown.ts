import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionByHash.unknown',
  fault: 'an error instead of null for an unknown hash',
  rpc: async (request, forward) => {
    const response = await forward(request)
    if ((request.json as { method?: unknown } | null)?.method !== 'eth_getTransactionByHash') return response
    return mapResponses(response, (answer) =>
      answer['result'] === null
        ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
        : answer,
    )
  },
})
