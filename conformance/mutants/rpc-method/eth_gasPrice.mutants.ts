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

  ...(
    [
      ['thousandfold', 'a price a thousand times too high', (wei) => wei * 1000n],
      ['thousandth', 'a price a thousand times too low', (wei) => wei / 1000n + 1n],
      ['millionfold', 'a price a million times too high', (wei) => wei * 1_000_000n],
      ['hundredfold', 'a price a hundred times too high', (wei) => wei * 100n],
      ['of-a-transaction', 'the price of a whole transaction', (wei) => wei * 21_000n],
    ] as const satisfies readonly (readonly [string, string, (wei: bigint) => bigint])[]
  ).map(([name, fault, alter]) =>
    defineMutant({
      clause: 'eth-rpc.eth_gasPrice.success',
      name,
      fault,
      rpc: alterResult('eth_gasPrice', (wei) => `0x${alter(BigInt(String(wei))).toString(16)}`),
    }),
  ),
]
