import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
  fault: 'keys without 0x are read as decimal',
  rpc: alterParams('eth_getLogs', ([filter, ...rest]) => {
    const { paging_options: keys } = filter as { paging_options?: Record<string, unknown> }
    if (!keys) return [filter, ...rest]
    const decimal = (value: unknown) =>
      typeof value === 'string' && /^[0-9a-f]+$/i.test(value) ? `0x${(parseInt(value, 10) || 0).toString(16)}` : value
    const read = Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, decimal(value)]))
    return [{ ...(filter as Record<string, unknown>), paging_options: read }, ...rest]
  }),
})
