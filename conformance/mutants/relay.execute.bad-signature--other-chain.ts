import { defineMutant } from './define.ts'
import { resigned, signerOf, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.bad-signature',
  fault: 'a signature for the chain with the next id is taken',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    const { controllers, chain } = tools.fixture
    const signer = transaction && signerOf(tools, transaction, BigInt(chain.chainId) + 1n)
    const takeOver = signer?.toLowerCase() === controllers.full.address.toLowerCase()
    return forward(transaction && takeOver ? resigned(request, tools, transaction.abi) : request)
  },
})
