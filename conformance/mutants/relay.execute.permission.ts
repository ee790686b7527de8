import { defineMutant } from './define.ts'
import { resigned, signerOf, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.permission',
  fault: 'a controller that may not relay is helped out by another one',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    const signer = transaction && signerOf(tools, transaction)
    const isNoRelay = signer?.toLowerCase() === tools.fixture.controllers.noRelay.address.toLowerCase()
    return forward(transaction && isNoRelay ? resigned(request, tools, transaction.abi) : request)
  },
})
