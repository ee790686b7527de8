import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.address',
  fault: 'an address in lower case is refused',
  rpc: refuse(-32602, ({ method, params }) => {
    const [address] = Array.isArray(params) ? (params as unknown[]) : []
    return method === 'eth_getBalance' && typeof address === 'string' && address === address.toLowerCase()
  }),
})
