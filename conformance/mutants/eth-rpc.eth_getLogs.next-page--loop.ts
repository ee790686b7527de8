import { defineMutant, withJson } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the third page and all after it are the second again',
  rpc: (request, forward, { memory }) => {
    const body = request.json as { method?: unknown; params?: readonly { paging_options?: unknown }[] } | null
    const keys = body?.method === 'eth_getLogs' ? body.params?.[0]?.paging_options : undefined
    if (!keys) return forward(request)
    if (!memory.has('keys')) memory.set('keys', keys)
    const filter = { ...body?.params?.[0], paging_options: memory.get('keys') }
    return forward(withJson(request, { ...body, params: [filter] }))
  },
})
