import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the next page begins with the last entry again',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { paging_options: keys, ...others } = filter as { paging_options?: { logIndex: string; blockNumber: string } }
    const index = keys && BigInt(`0x${keys.logIndex.replace(/^0x/, '')}`)
    if (!keys || index === undefined || index === 0n) return [filter, ...rest]
    return [{ ...others, paging_options: { ...keys, logIndex: `0x${(index - 1n).toString(16)}` } }, ...rest]
  }),
})
