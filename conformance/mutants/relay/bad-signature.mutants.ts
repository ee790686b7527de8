import { defineMutant } from '../../altered/define.ts'
import { isSignedByFull, resigned, signerOf, wholeTransaction } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.bad-signature',
    fault: 'the signature is not looked at: the relay signs itself',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || isSignedByFull(tools, transaction)) return forward(request)
      return forward(resigned(request, tools, transaction.abi))
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'late',
    fault: 'a call with a wrong signature is refused, and executed before the next valid one',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      if (!isSignedByFull(tools, transaction)) {
        tools.memory.set('refused', resigned(request, tools, transaction.abi))
        return forward(request)
      }
      const refused = tools.memory.get('refused') as typeof request | undefined
      tools.memory.clear()
      if (refused) await forward(refused)
      return forward(request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'other-chain',
    fault: 'a signature for the chain with the next id is taken',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const { controllers, chain } = tools.fixture
      const signer = transaction && signerOf(tools, transaction, BigInt(chain.chainId) + 1n)
      const takeOver = signer?.toLowerCase() === controllers.full.address.toLowerCase()
      return forward(transaction && takeOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'zeros',
    fault: 'a signature of zeros is a request to sign',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const isZero = transaction && /^0x0+$/.test(transaction.signature)
      return forward(isZero ? resigned(request, tools, transaction.abi) : request)
    },
  }),
]
