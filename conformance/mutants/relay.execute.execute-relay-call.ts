import { Interface } from 'ethers'
import { defineMutant, respond } from './define.ts'
import { isSignedByFull, wholeTransaction } from './lib/relay.ts'

const keyManager = new Interface(['function execute(bytes payload) payable returns (bytes)'])

export default defineMutant({
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
})
