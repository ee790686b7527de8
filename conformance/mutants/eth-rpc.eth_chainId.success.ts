import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_chainId.success',
  fault: 'the id of another chain',
  rpc: alterResult('eth_chainId', () => '0x1'),
})
