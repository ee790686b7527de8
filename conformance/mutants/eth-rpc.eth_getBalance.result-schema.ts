import { defineMutant } from './define.ts'
import { alterResult, paddedQuantity } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getBalance.result-schema',
  fault: 'a quantity with a leading zero',
  rpc: alterResult('eth_getBalance', paddedQuantity),
})
