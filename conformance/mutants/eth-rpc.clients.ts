import { defineMutant } from './define.ts'
import { refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.clients',
  fault: 'a request without params is refused',
  rpc: refuse(-32602, ({ params }) => params === undefined),
})
