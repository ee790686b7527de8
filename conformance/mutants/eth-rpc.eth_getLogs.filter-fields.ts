import { defineMutant } from './define.ts'
import { alterFilter } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.filter-fields',
  fault: 'topics beyond the first are ignored',
  rpc: alterFilter(({ topics, ...others }) => ({
    ...others,
    topics: Array.isArray(topics) ? (topics as unknown[]).slice(0, 1) : topics,
  })),
})
