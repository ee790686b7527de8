import { defineMutant } from './define.ts'
import { isSignedByFull, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.execute-relay-call',
  fault: 'the payload is executed with a nonce and a signature of the relay',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    const takeOver = transaction && isSignedByFull(tools, transaction)
    return forward(takeOver ? resigned(request, tools, transaction.abi) : request)
  },
})
