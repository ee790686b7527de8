import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.max-1000',
  fault: 'a full page has one entry more',
  rpc: alterResult('eth_getLogs', (logs) =>
    Array.isArray(logs) && logs.length === 1000 ? [...(logs as unknown[]), logs.at(-1) as unknown] : logs,
  ),
})
