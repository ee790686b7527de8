import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.envelope.id-integer',
  fault: 'the id 0 is taken for no id',
  rpc: refuse(-32600, ({ id }) => id === 0),
})
