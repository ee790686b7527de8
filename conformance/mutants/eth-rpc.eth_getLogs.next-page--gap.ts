import { defineMutant } from './define.ts'
import { alterResult, pagingOf } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the first entry of a next page is left out',
  rpc: alterResult('eth_getLogs', (logs, body) =>
    pagingOf(body) && Array.isArray(logs) ? (logs as unknown[]).slice(1) : logs,
  ),
})
