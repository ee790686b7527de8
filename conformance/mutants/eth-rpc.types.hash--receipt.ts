import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.hash',
  fault: 'a hash of 32 bytes finds no receipt',
  rpc: alterResult('eth_getTransactionReceipt', () => null),
})
