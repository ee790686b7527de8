import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.envelope.params-empty',
  fault: 'eth_maxPriorityFeePerGas refuses an empty array',
  rpc: refuse(
    -32602,
    ({ method, params }) => method === 'eth_maxPriorityFeePerGas' && Array.isArray(params) && params.length === 0,
  ),
})
