import { defineMutant, respond } from '../../altered/define.ts'
import { isSignedByFull, resigned, transactionOf, wholeTransaction, alterTransaction } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    fault: '"0x0" is refused for its odd number of digits',
    execute: async (request, forward) =>
      transactionOf(request)['validityTimestamps'] === '0x0'
        ? respond(400, { message: 'invalid hex' })
        : forward(request),
  }),

  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    name: 'expired',
    fault: 'a call whose window is over is executed nevertheless',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const end = transaction.validityTimestamps & (2n ** 128n - 1n)
      const isOver = end !== 0n && end < BigInt(Math.floor(Date.now() / 1000))
      return forward(isOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    name: 'ignored',
    fault: 'validityTimestamps is dropped, so that the signature does not fit',
    execute: (request, forward) =>
      forward(
        'validityTimestamps' in transactionOf(request)
          ? alterTransaction(request, { validityTimestamps: undefined })
          : request,
      ),
  }),
]
