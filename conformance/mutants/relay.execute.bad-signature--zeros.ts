import { defineMutant } from './define.ts'
import { resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.bad-signature',
  fault: 'a signature of zeros is a request to sign',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    const isZero = transaction && /^0x0+$/.test(transaction.signature)
    return forward(isZero ? resigned(request, tools, transaction.abi) : request)
  },
})
