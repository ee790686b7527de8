import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_gasPrice.success',
  fault: 'a price in gwei instead of wei',
  rpc: alterResult('eth_gasPrice', (wei) => `0x${(BigInt(String(wei)) / 1_000_000_000n).toString(16)}`),
})
