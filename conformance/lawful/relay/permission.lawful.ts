import { defineLawful, respond } from '../../altered/define.ts'
import { signerOf, wholeTransaction } from '../../altered/lib/relay.ts'

export default [
  defineLawful({
    id: 'relays-for-known-controllers-alone',
    clauses: ['relay.execute.permission'],
    allowedBy: 'relay 5: whom else the service refuses is not shown',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const signer = transaction && signerOf(tools, transaction)?.toLowerCase()
      const isNoRelay = signer === tools.fixture.controllers.noRelay.address.toLowerCase()
      return isNoRelay ? respond(404, { message: 'no such controller' }) : forward(request)
    },
  }),
]
