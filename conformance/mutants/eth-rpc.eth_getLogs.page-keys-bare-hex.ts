import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
  fault: 'keys without 0x are refused',
  rpc: refuse(-32602, ({ method, params }) => {
    const [filter] = (params ?? []) as ({ paging_options?: { logIndex?: string } } | undefined)[]
    return method === 'eth_getLogs' && /^[0-9a-f]+$/i.test(filter?.paging_options?.logIndex ?? '')
  }),
})
