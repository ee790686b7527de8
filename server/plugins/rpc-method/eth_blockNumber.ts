import { defineRpcMethod } from '../../core/define.ts'

/** Number of the head. */
export default defineRpcMethod({
  method: 'eth_blockNumber',
  clauses: [
    'eth-rpc.eth_blockNumber.success',
    'eth-rpc.eth_blockNumber.result-schema',
    'eth-rpc.eth_blockNumber.bad-params',
  ],
  needs: ['chain'],
  handle: (_params, { chain }) => chain.blockNumber(),
})
