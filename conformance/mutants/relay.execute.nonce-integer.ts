import { defineMutant } from './define.ts'
import { transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.nonce-integer',
  fault: 'a fraction is rounded down',
  execute(request, forward) {
    const { nonce } = transactionOf(request)
    const isFraction = typeof nonce === 'number' && !Number.isInteger(nonce)
    return forward(isFraction ? withTransaction(request, { nonce: Math.floor(nonce) }) : request)
  },
})
