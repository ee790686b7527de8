import { defineMutant } from './define.ts'
import { pagingOf, refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
  fault: 'keys without 0x are refused',
  rpc: refuse(-32602, (body) => {
    const key = pagingOf(body)?.['logIndex']
    return typeof key === 'string' && /^[0-9a-f]+$/i.test(key)
  }),
})
