import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.envelope.version',
  fault: 'jsonrpc "2.0" is refused',
  rpc: refuse(-32600, ({ jsonrpc }) => jsonrpc === '2.0'),
})
