import { defineMutant } from './define.ts'
import { alterPaging } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the next page begins with the next block',
  rpc: alterPaging((keys) => ({ ...keys, logIndex: '0xffffffff' })),
})
