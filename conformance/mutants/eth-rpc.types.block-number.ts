import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.block-number',
  fault: 'a block by its number is refused',
  rpc: refuse(-32602, ({ method, params }) => {
    const [, block] = Array.isArray(params) ? (params as unknown[]) : []
    return method === 'eth_getBalance' && typeof block === 'string' && block.startsWith('0x')
  }),
})
