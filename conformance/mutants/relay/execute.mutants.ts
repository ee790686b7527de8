import { hexlify, Interface, randomBytes } from 'ethers'
import { defineMutant, respond } from '../../altered/define.ts'
import { alterAnswer, isSignedByFull, otherHash, resigned, wholeTransaction } from '../../altered/lib/relay.ts'
import { profileAbi } from '../../lib/relay/abi.ts'

const keyManager = new Interface(['function execute(bytes payload) payable returns (bytes)'])

export default [
  defineMutant({
    clause: 'relay.execute.post',
    fault: 'POST /execute is not there',
    execute: async () => respond(404, { message: 'Not Found' }),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'queued',
    fault: 'calls are queued and never executed',
    execute: async () => respond(202, { status: 'queued' }),
  }),

  defineMutant({
    clause: 'relay.execute.response',
    fault: 'the hash has another name',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ hash: transactionHash })),
  }),

  defineMutant({
    clause: 'relay.execute.response',
    name: 'no-hex',
    fault: 'transactionHash is a decimal number in a string',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({
      transactionHash: String(BigInt(transactionHash as string)),
    })),
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    fault: 'transactionHash is the hash of something else',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ transactionHash: otherHash(transactionHash) })),
  }),

  defineMutant({
    clause: 'relay.execute.execute-relay-call',
    fault: 'the call is executed by execute(), by a relay that is a controller itself',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const { profile, controllers } = tools.fixture
      const data = keyManager.encodeFunctionData('execute', [transaction.abi])
      const sent = { from: controllers.full.address, to: profile.keyManager, data }
      return respond(200, { transactionHash: await tools.chain('eth_sendTransaction', [sent]) })
    },
  }),

  defineMutant({
    clause: 'relay.execute.execute-relay-call',
    name: 'other-nonce',
    fault: 'the payload is executed with a nonce and a signature of the relay',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const takeOver = transaction && isSignedByFull(tools, transaction)
      return forward(takeOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    fault: 'another call is executed than the one that was signed',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const other = profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
      return forward(resigned(request, tools, other, transaction.nonce))
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-authenticates',
    fault: 'POST /execute asks for a token as well',
    execute: async (request, forward) =>
      request.headers['authorization'] ? forward(request) : respond(401, { message: 'Missing token' }),
  }),
]
