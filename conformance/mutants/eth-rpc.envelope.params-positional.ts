import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.envelope.params-positional',
  fault: 'the parameters of eth_getBalance are taken in reverse',
  rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [block, address, ...rest]),
})
