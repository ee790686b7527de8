import { defineMutant } from '../../altered/define.ts'
import { filterOf, refuse } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.clients',
    fault: 'a request without params is refused',
    rpc: refuse(-32602, ({ params }) => params === undefined),
  }),

  defineMutant({
    clause: 'eth-rpc.clients',
    name: 'empty-topics',
    fault: 'an empty list of topics is refused',
    rpc: refuse(-32602, (body) => {
      const topics = filterOf(body)?.['topics']
      return Array.isArray(topics) && topics.length === 0
    }),
  }),
]
