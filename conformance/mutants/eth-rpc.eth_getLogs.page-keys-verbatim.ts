import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-verbatim',
  fault: 'the keys are refused with 0x, as they stand in the entry',
  rpc: refuse(-32602, ({ method, params }) => {
    const [filter] = (params ?? []) as ({ paging_options?: { logIndex?: unknown } } | undefined)[]
    return method === 'eth_getLogs' && String(filter?.paging_options?.logIndex).startsWith('0x')
  }),
})
