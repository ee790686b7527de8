import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getBalance.bad-params',
  fault: 'a block that is neither number nor tag is taken for the latest',
  rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
    address,
    block === 'newest' ? 'latest' : block,
    ...rest,
  ]),
})
