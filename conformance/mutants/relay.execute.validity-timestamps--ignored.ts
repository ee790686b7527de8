import { defineMutant } from './define.ts'
import { transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.validity-timestamps',
  fault: 'validityTimestamps is dropped, so that the signature does not fit',
  execute: (request, forward) =>
    forward(
      'validityTimestamps' in transactionOf(request)
        ? withTransaction(request, { validityTimestamps: undefined })
        : request,
    ),
})
