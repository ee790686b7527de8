import { defineMutant } from './define.ts'
import { ignoreParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_blockNumber.bad-params',
  fault: 'whatever stands in params is ignored',
  rpc: ignoreParams('eth_blockNumber'),
})
