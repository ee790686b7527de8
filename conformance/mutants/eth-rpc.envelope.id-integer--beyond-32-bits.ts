import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.envelope.id-integer',
  fault: 'an id beyond 32 bits is refused',
  rpc: refuse(-32600, ({ id }) => typeof id === 'number' && id > 0xffffffff),
})
