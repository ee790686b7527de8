import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_blockNumber.success',
  fault: 'a head ten blocks beyond the chain',
  rpc: alterResult('eth_blockNumber', (head) => `0x${(BigInt(String(head)) + 10n).toString(16)}`),
})
