import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.bad-params',
  fault: 'fields of the filter that are malformed are left out of it',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { topics, ...others } = filter as { topics?: unknown }
    return [topics === undefined || Array.isArray(topics) ? filter : others, ...rest]
  }),
})
