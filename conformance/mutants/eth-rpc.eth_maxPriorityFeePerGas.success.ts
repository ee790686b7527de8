import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_maxPriorityFeePerGas.success',
  fault: 'null instead of a fee',
  rpc: alterResult('eth_maxPriorityFeePerGas', () => null),
})
