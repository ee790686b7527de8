import { defineMutant } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionByHash.success',
  fault: 'the first transaction that was asked for is given for every hash',
  rpc: async (request, forward, { memory }) => {
    const body = request.json as { method?: unknown; params?: unknown } | null
    if (body?.method !== 'eth_getTransactionByHash') return forward(request)
    const response = await forward(request)
    const { result } = (response.json ?? {}) as { result?: unknown }
    if (result && !memory.has('first')) memory.set('first', response)
    return result ? (memory.get('first') as typeof response) : response
  },
})
