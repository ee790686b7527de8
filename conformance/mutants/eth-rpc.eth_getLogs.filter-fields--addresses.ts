import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.filter-fields',
  fault: 'of several addresses only the first counts',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { address, ...others } = filter as { address?: unknown }
    return [Array.isArray(address) ? { ...others, address: address[0] as unknown } : filter, ...rest]
  }),
})
