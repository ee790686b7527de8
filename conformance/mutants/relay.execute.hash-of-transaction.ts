import { defineMutant } from './define.ts'
import { alterAnswer, otherHash } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.hash-of-transaction',
  fault: 'transactionHash is the hash of something else',
  execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ transactionHash: otherHash(transactionHash) })),
})
