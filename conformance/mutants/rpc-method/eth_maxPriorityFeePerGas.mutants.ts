import { defineMutant } from '../../altered/define.ts'
import { alterResult, ignoreParams, paddedQuantity } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_maxPriorityFeePerGas.success',
    fault: 'null instead of a fee',
    rpc: alterResult('eth_maxPriorityFeePerGas', () => null),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_maxPriorityFeePerGas.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_maxPriorityFeePerGas', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_maxPriorityFeePerGas.bad-params',
    fault: 'whatever stands in params is ignored',
    rpc: ignoreParams('eth_maxPriorityFeePerGas'),
  }),
]
