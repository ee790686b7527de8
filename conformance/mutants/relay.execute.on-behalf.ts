import { hexlify, randomBytes } from 'ethers'
import { profileAbi } from '../lib/relay/abi.ts'
import { defineMutant } from './define.ts'
import { isSignedByFull, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.on-behalf',
  fault: 'another call is executed than the one that was signed',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
    const other = profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
    return forward(resigned(request, tools, other, transaction.nonce))
  },
})
