import { defineMutant, respond } from './define.ts'
import { transactionOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.validity-timestamps',
  fault: '"0x0" is refused for its odd number of digits',
  execute: async (request, forward) =>
    transactionOf(request)['validityTimestamps'] === '0x0'
      ? respond(400, { message: 'invalid hex' })
      : forward(request),
})
