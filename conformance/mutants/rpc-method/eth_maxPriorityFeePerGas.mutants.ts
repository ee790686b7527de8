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

  ...(
    [
      ['ether', 'a fee of ten coins for each gas', '0x8ac7230489e80000'],
      ['thousandfold', 'a fee of ten thousand gwei', '0x9184e72a000'],
      ['negative', 'a fee below zero', '-0x1'],
      ['words', 'a fee in words', '1 gwei'],
    ] as const
  ).map(([name, fault, fee]) =>
    defineMutant({
      clause: 'eth-rpc.eth_maxPriorityFeePerGas.success',
      name,
      fault,
      rpc: alterResult('eth_maxPriorityFeePerGas', () => fee),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_maxPriorityFeePerGas.success',
    name: 'hundredfold',
    fault: 'a fee a hundred times too high',
    rpc: alterResult('eth_maxPriorityFeePerGas', (wei) => `0x${(BigInt(String(wei)) * 100n).toString(16)}`),
  }),
]
