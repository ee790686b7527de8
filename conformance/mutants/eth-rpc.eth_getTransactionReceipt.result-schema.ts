import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionReceipt.result-schema',
  fault: 'the status is a JSON number',
  rpc: alterResult('eth_getTransactionReceipt', (found) => {
    const receipt = found as Record<string, unknown> | null
    return receipt && { ...receipt, status: Number(receipt['status']) }
  }),
})
