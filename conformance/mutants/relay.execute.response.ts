import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.response',
  fault: 'the hash has another name',
  execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ hash: transactionHash })),
})
