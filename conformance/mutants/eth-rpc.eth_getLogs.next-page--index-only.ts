import { defineMutant } from './define.ts'
import { alterResult, pagingOf } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the index of the last log is held against the logs of later blocks too',
  rpc: alterResult('eth_getLogs', (logs, body) => {
    const keys = pagingOf(body)
    if (!keys || !Array.isArray(logs)) return logs
    const last = BigInt(`0x${String(keys['logIndex']).replace(/^0x/, '')}`)
    return (logs as { logIndex: string }[]).filter(({ logIndex }) => BigInt(logIndex) > last)
  }),
})
