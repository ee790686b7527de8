import { defineMutant } from './define.ts'
import { filterOf, refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.clients',
  fault: 'an empty list of topics is refused',
  rpc: refuse(-32602, (body) => {
    const topics = filterOf(body)?.['topics']
    return Array.isArray(topics) && topics.length === 0
  }),
})
