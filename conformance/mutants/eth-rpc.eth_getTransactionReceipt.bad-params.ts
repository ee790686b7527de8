import { defineMutant } from './define.ts'
import { nullForBadParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionReceipt.bad-params',
  fault: 'null instead of an error for a malformed hash',
  rpc: nullForBadParams('eth_getTransactionReceipt'),
})
