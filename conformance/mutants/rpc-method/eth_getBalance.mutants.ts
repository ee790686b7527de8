import { defineMutant } from '../../altered/define.ts'
import { alterParams, alterResult, paddedQuantity } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    fault: 'a balance one wei too high',
    rpc: alterResult('eth_getBalance', (balance) => `0x${(BigInt(String(balance)) + 1n).toString(16)}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'always-latest',
    fault: 'a block by its number is taken for the latest',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) ? 'latest' : block,
      ...rest,
    ]),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_getBalance', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.bad-params',
    fault: 'a block that is neither number nor tag is taken for the latest',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      block === 'newest' ? 'latest' : block,
      ...rest,
    ]),
  }),
]
