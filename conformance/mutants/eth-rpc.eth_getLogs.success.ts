import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.success',
  fault: 'the last log is left out where there are several',
  rpc: alterResult('eth_getLogs', (logs) =>
    Array.isArray(logs) && logs.length > 1 && logs.length < 1000 ? logs.slice(0, -1) : logs,
  ),
})
