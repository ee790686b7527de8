import { defineMutant } from './define.ts'
import { resigned, transactionOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.requires-abi',
  fault: 'a missing abi is the one of the request before',
  execute(request, forward, tools) {
    const { abi, nonce } = transactionOf(request)
    if (typeof abi === 'string') tools.memory.set('abi', abi)
    const before = tools.memory.get('abi')
    return forward(nonce !== undefined && abi === undefined ? resigned(request, tools, String(before)) : request)
  },
})
