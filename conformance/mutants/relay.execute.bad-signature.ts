import { defineMutant } from './define.ts'
import { isSignedByFull, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.bad-signature',
  fault: 'the signature is not looked at: the relay signs itself',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    if (!transaction || isSignedByFull(tools, transaction)) return forward(request)
    return forward(resigned(request, tools, transaction.abi))
  },
})
