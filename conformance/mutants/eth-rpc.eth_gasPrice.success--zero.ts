import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_gasPrice.success',
  fault: 'a price of zero',
  rpc: alterResult('eth_gasPrice', () => '0x0'),
})
