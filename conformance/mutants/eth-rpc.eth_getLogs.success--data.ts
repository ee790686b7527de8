import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.success',
  fault: 'logs with altered data',
  rpc: alterResult('eth_getLogs', (logs) =>
    (logs as Record<string, unknown>[]).map((log) => ({ ...log, data: `${String(log['data'])}00` })),
  ),
})
