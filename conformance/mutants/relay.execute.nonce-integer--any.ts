import { defineMutant } from './define.ts'
import { nextNonce, transactionOf, withTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.nonce-integer',
  fault: 'what is no number is the next nonce of the key manager',
  async execute(request, forward, tools) {
    const { nonce } = transactionOf(request)
    if (nonce === undefined || typeof nonce === 'number' || typeof nonce === 'bigint') return forward(request)
    return forward(withTransaction(request, { nonce: await nextNonce(tools, tools.fixture.controllers.full.address) }))
  },
})
