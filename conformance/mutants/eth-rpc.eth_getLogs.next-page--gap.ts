import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the first entry of a next page is left out',
  rpc: alterResult('eth_getLogs', (logs, { params }) => {
    const [filter] = (params ?? []) as ({ paging_options?: unknown } | undefined)[]
    return filter?.paging_options && Array.isArray(logs) ? (logs as unknown[]).slice(1) : logs
  }),
})
