import { defineMutant, respond } from './define.ts'
import { wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.channels',
  fault: 'a nonce above 2^53 is refused',
  execute: async (request, forward) =>
    (wholeTransaction(request)?.nonce ?? 0n) > 2n ** 53n
      ? respond(400, { message: 'nonce out of range' })
      : forward(request),
})
