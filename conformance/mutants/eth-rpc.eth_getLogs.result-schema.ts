import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.result-schema',
  fault: 'the index of the transaction is a JSON number',
  rpc: alterResult('eth_getLogs', (logs) =>
    (logs as Record<string, unknown>[]).map((log) => ({ ...log, transactionIndex: Number(log['transactionIndex']) })),
  ),
})
