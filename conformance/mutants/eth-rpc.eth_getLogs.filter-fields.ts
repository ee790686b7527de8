import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.filter-fields',
  fault: 'topics beyond the first are ignored',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { topics, ...others } = filter as { topics?: unknown }
    return [Array.isArray(topics) ? { ...others, topics: topics.slice(0, 1) as unknown[] } : filter, ...rest]
  }),
})
