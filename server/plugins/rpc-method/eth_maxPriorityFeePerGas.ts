import { defineRpcMethod } from '../../core/define.ts'

/** Priority fee per gas, in wei. */
export default defineRpcMethod({
  method: 'eth_maxPriorityFeePerGas',
  clauses: [
    'eth-rpc.eth_maxPriorityFeePerGas.success',
    'eth-rpc.eth_maxPriorityFeePerGas.result-schema',
    'eth-rpc.eth_maxPriorityFeePerGas.bad-params',
  ],
  needs: ['chain'],
  handle: (_params, { chain }) => chain.maxPriorityFeePerGas(),
})
