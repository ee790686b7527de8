import { defineMutant } from '../../altered/define.ts'
import { alterResult, ignoreParams, paddedQuantity } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_gasPrice.success',
    fault: 'a price in gwei instead of wei',
    rpc: alterResult('eth_gasPrice', (wei) => `0x${(BigInt(String(wei)) / 1_000_000_000n).toString(16)}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_gasPrice.success',
    name: 'zero',
    fault: 'a price of zero',
    rpc: alterResult('eth_gasPrice', () => '0x0'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_gasPrice.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_gasPrice', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_gasPrice.bad-params',
    fault: 'whatever stands in params is ignored',
    rpc: ignoreParams('eth_gasPrice'),
  }),
]
