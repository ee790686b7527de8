import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.walk-ends',
  fault: 'pages of 999 entries',
  rpc: alterResult('eth_getLogs', (logs) => (Array.isArray(logs) ? logs.slice(0, 999) : logs)),
})
