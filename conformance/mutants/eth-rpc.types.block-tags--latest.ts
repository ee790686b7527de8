import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.block-tags',
  fault: '"latest" is refused as a bad parameter',
  rpc: refuse(
    -32602,
    ({ method, params }) => method === 'eth_getBalance' && Array.isArray(params) && params[1] === 'latest',
  ),
})
