import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the next page begins with the next block',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { paging_options: keys, ...others } = filter as { paging_options?: Record<string, unknown> }
    return [keys ? { ...others, paging_options: { ...keys, logIndex: '0xffffffff' } } : filter, ...rest]
  }),
})
