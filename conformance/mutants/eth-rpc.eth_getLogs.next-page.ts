import { defineMutant } from './define.ts'
import { alterPaging } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.next-page',
  fault: 'the pagination options are ignored: the first page comes again',
  rpc: alterPaging(() => undefined),
})
