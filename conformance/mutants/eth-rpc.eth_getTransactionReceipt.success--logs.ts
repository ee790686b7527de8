import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionReceipt.success',
  fault: 'without its logs',
  rpc: alterResult(
    'eth_getTransactionReceipt',
    (found) => found && { ...(found as Record<string, unknown>), logs: [] },
  ),
})
