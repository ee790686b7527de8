import { defineMutant } from './define.ts'
import { transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.signature-hex',
  fault: 'transaction.signature is made a string: an array that holds one becomes it',
  execute(request, forward) {
    const { signature } = transactionOf(request)
    return forward(Array.isArray(signature) ? withTransaction(request, { signature: String(signature) }) : request)
  },
})
