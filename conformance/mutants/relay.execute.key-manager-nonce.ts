import { defineMutant } from './define.ts'
import { isSignedByFull, nextNonce, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.key-manager-nonce',
  fault: 'a call with a used nonce is executed with another one',
  async execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
    const next = await nextNonce(tools, tools.fixture.controllers.full.address, transaction.nonce)
    return forward(next > transaction.nonce ? resigned(request, tools, transaction.abi) : request)
  },
})
