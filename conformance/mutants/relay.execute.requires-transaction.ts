import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.requires-transaction',
  fault: 'a missing transaction is the one of the request before',
  execute(request, forward, { memory }) {
    const { transaction = memory.get('transaction'), ...rest } = bodyOf(request)
    memory.set('transaction', transaction)
    return forward(withJson(request, { ...rest, transaction }))
  },
})
