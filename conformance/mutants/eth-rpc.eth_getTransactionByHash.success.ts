import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionByHash.success',
  fault: 'another sender',
  rpc: alterResult(
    'eth_getTransactionByHash',
    (found) => found && { ...(found as Record<string, unknown>), from: `0x${'11'.repeat(20)}` },
  ),
})
