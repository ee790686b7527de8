import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.order',
  fault: 'the first two entries of a page change places',
  rpc: alterResult('eth_getLogs', (logs) => {
    if (!Array.isArray(logs) || logs.length < 1000) return logs
    const [first, second, ...others] = logs as unknown[]
    return [second, first, ...others]
  }),
})
