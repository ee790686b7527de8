import { defineMutant } from './define.ts'
import { nextNonce, transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.requires-nonce',
  fault: 'a missing nonce is the next one of the key manager',
  async execute(request, forward, tools) {
    const { abi, nonce } = transactionOf(request)
    if (abi === undefined || nonce !== undefined) return forward(request)
    return forward(withTransaction(request, { nonce: await nextNonce(tools, tools.fixture.controllers.full.address) }))
  },
})
