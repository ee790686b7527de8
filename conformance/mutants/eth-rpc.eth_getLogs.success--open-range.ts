import { defineMutant } from './define.ts'
import { alterFilter } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.success',
  fault: 'the last block of a range is left out of it',
  rpc: alterFilter((filter) => {
    const { fromBlock, toBlock } = filter
    if (!String(toBlock).startsWith('0x') || fromBlock === toBlock) return filter
    return { ...filter, toBlock: `0x${(BigInt(String(toBlock)) - 1n).toString(16)}` }
  }),
})
