import { defineMutant } from './define.ts'
import { transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.abi-hex',
  fault: 'transaction.abi is made a string: an array that holds one becomes it',
  execute(request, forward) {
    const { abi } = transactionOf(request)
    return forward(Array.isArray(abi) ? withTransaction(request, { abi: String(abi) }) : request)
  },
})
