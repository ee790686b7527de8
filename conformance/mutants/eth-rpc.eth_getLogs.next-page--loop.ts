import { defineMutant } from './define.ts'
import { alterPaging } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'every page after the first is the second again',
  rpc: (request, forward, tools) =>
    alterPaging((keys) => {
      if (!tools.memory.has('keys')) tools.memory.set('keys', keys)
      return tools.memory.get('keys') as object
    })(request, forward, tools),
})
