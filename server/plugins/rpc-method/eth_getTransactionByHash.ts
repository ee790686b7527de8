import { defineRpcMethod } from '../../core/define.ts'

/** A transaction by its hash, or null. */
export default defineRpcMethod({
  method: 'eth_getTransactionByHash',
  clauses: [
    'eth-rpc.eth_getTransactionByHash.success',
    'eth-rpc.eth_getTransactionByHash.unknown',
    'eth-rpc.eth_getTransactionByHash.result-schema',
    'eth-rpc.eth_getTransactionByHash.bad-params',
    'eth-rpc.types.hash',
  ],
  needs: ['chain'],
  handle: ([hash], { chain }) => chain.transaction(hash),
})
