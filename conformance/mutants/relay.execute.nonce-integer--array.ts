import { defineMutant } from './define.ts'
import { transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.nonce-integer',
  fault: 'an array that holds a number is taken for it',
  execute(request, forward) {
    const { nonce } = transactionOf(request)
    return forward(Array.isArray(nonce) ? withTransaction(request, { nonce: nonce[0] as unknown }) : request)
  },
})
