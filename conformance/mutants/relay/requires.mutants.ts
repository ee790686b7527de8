import { defineMutant, respond, withJson } from '../../altered/define.ts'
import { relayCallData, sendFrom } from '../../altered/lib/sender.ts'
import { requestObject, nextNonceOf, resigned, transactionOf, alterTransaction } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.requires-address',
    fault: 'a missing address is that of the only profile',
    execute: (request, forward, { fixture }) =>
      forward(withJson(request, { address: fixture.profile.address, ...requestObject(request) })),
  }),

  defineMutant({
    clause: 'relay.execute.requires-transaction',
    fault: 'a missing transaction is the one of the request before',
    execute(request, forward, { memory }) {
      const { transaction = memory.get('transaction'), ...rest } = requestObject(request)
      memory.set('transaction', transaction)
      return forward(withJson(request, { ...rest, transaction }))
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-abi',
    fault: 'a missing abi is the one of the request before',
    execute(request, forward, tools) {
      const { abi, nonce } = transactionOf(request)
      if (typeof abi === 'string') tools.memory.set('abi', abi)
      const before = tools.memory.get('abi')
      return forward(nonce !== undefined && abi === undefined ? resigned(request, tools, String(before)) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-signature',
    fault: 'a call without a signature is signed by the relay',
    execute(request, forward, tools) {
      const { abi, signature } = transactionOf(request)
      return forward(typeof abi === 'string' && signature === undefined ? resigned(request, tools, abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-nonce',
    fault: 'a missing nonce is the next one of the key manager',
    async execute(request, forward, tools) {
      const { abi, nonce } = transactionOf(request)
      if (abi === undefined || nonce !== undefined) return forward(request)
      return forward(
        alterTransaction(request, { nonce: await nextNonceOf(tools, tools.fixture.controllers.full.address) }),
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-abi',
    name: 'empty',
    fault: 'a missing abi is empty call data, for which a transaction is sent that reverts',
    async execute(request, forward, tools) {
      const { abi, signature, nonce } = transactionOf(request)
      if (abi !== undefined || typeof signature !== 'string' || nonce === undefined) return forward(request)
      const empty = { abi: '0x', signature, nonce: BigInt(nonce as number), validityTimestamps: 0n }
      const sent = { to: tools.fixture.profile.keyManager, data: relayCallData(empty), gas: '0x7a120' }
      return respond(200, { transactionHash: await sendFrom(tools, sent) })
    },
  }),
]
