import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.hash',
  fault: 'a hash of 32 bytes finds no transaction',
  rpc: alterResult('eth_getTransactionByHash', () => null),
})
