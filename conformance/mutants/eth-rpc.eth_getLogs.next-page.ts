import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the pagination options are ignored: the first page comes again',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const members = Object.entries(filter as object).filter(([name]) => name !== 'paging_options')
    return [Object.fromEntries(members), ...rest]
  }),
})
