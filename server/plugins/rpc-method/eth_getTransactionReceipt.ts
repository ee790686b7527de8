import { defineRpcMethod } from '../../core/define.ts'

/** Receipt of a mined transaction by its hash, or null. */
export default defineRpcMethod({
  method: 'eth_getTransactionReceipt',
  clauses: [
    'eth-rpc.eth_getTransactionReceipt.success',
    'eth-rpc.eth_getTransactionReceipt.unknown',
    'eth-rpc.eth_getTransactionReceipt.result-schema',
    'eth-rpc.eth_getTransactionReceipt.bad-params',
    'eth-rpc.types.hash',
  ],
  needs: ['chain'],
  handle: ([hash], { chain }) => chain.receipt(hash),
})
