import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.clients',
  fault: 'an empty list of topics selects nothing and is refused',
  rpc: refuse(-32602, ({ method, params }) => {
    const [filter] = (params ?? []) as ({ topics?: unknown } | undefined)[]
    return method === 'eth_getLogs' && Array.isArray(filter?.topics) && filter.topics.length === 0
  }),
})
