import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getBalance.success',
  fault: 'a block by its number is taken for the latest',
  rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
    address,
    typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block) ? 'latest' : block,
    ...rest,
  ]),
})
