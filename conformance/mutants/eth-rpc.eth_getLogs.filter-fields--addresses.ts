import { defineMutant } from './define.ts'
import { alterFilter } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.filter-fields',
  fault: 'of several addresses only the first counts',
  rpc: alterFilter(({ address, ...others }) => ({
    ...others,
    address: Array.isArray(address) ? (address as unknown[])[0] : address,
  })),
})
