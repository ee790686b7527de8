import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getBalance.success',
  fault: 'a balance one wei too high',
  rpc: alterResult('eth_getBalance', (balance) => `0x${(BigInt(String(balance)) + 1n).toString(16)}`),
})
