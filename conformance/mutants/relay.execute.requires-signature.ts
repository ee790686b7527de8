import { defineMutant } from './define.ts'
import { resigned, transactionOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.requires-signature',
  fault: 'a call without a signature is signed by the relay',
  execute(request, forward, tools) {
    const { abi, signature } = transactionOf(request)
    return forward(typeof abi === 'string' && signature === undefined ? resigned(request, tools, abi) : request)
  },
})
