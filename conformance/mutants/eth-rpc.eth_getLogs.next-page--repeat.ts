import { defineMutant } from './define.ts'
import { alterPaging } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the next page begins with the last entry again',
  rpc: alterPaging((keys) => {
    const index = BigInt(`0x${String(keys['logIndex']).replace(/^0x/, '')}`)
    return index === 0n ? keys : { ...keys, logIndex: `0x${(index - 1n).toString(16)}` }
  }),
})
