import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.response',
  fault: 'transactionHash is a decimal number in a string',
  execute: alterAnswer('transactionHash', ({ transactionHash }) => ({
    transactionHash: String(BigInt(transactionHash as string)),
  })),
})
