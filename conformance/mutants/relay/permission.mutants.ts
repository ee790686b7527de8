import { defineMutant, respond } from '../../altered/define.ts'
import { resigned, signerOf, wholeTransaction } from '../../altered/lib/relay.ts'
import { keyManagerAbi } from '../../lib/relay/contracts.ts'

export default [
  defineMutant({
    clause: 'relay.execute.permission',
    fault: 'a controller that may not relay is helped out by another one',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const signer = transaction && signerOf(tools, transaction)
      const isNoRelay = signer?.toLowerCase() === tools.fixture.controllers.noRelay.address.toLowerCase()
      return forward(transaction && isNoRelay ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.permission',
    name: 'wasted',
    fault: 'calls are sent without a simulation: what is not permitted costs a transaction that reverts',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const { controllers, profile, funder } = tools.fixture
      const signer = transaction && signerOf(tools, transaction)
      if (!transaction || signer?.toLowerCase() !== controllers.noRelay.address.toLowerCase()) return forward(request)
      const { signature, nonce, abi } = transaction
      const data = keyManagerAbi.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, abi])
      // The node mines the transaction, and answers with its revert.
      await tools
        .chain('eth_sendTransaction', [{ from: funder?.address, to: profile.keyManager, data, gas: '0x7a120' }])
        .catch(() => undefined)
      const block = (await tools.chain('eth_getBlockByNumber', ['latest', true])) as {
        transactions: { hash: string; input: string }[]
      }
      return respond(200, { transactionHash: block.transactions.find(({ input }) => input === data)?.hash })
    },
  }),
]
