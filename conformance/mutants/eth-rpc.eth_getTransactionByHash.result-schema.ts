import { defineMutant } from './define.ts'
import { alterResult } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getTransactionByHash.result-schema',
  fault: 'the nonce is a JSON number',
  rpc: alterResult('eth_getTransactionByHash', (found) => {
    const transaction = found as Record<string, unknown> | null
    return transaction && { ...transaction, nonce: Number(transaction['nonce']) }
  }),
})
