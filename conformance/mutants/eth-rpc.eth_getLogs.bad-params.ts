import { defineMutant } from './define.ts'
import { alterFilter } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.bad-params',
  fault: 'topics that are no list are left out of the filter',
  rpc: alterFilter(({ topics, ...others }) => ({
    ...others,
    topics: Array.isArray(topics) ? topics : undefined,
  })),
})
