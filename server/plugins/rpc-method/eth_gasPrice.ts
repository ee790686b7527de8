import { defineRpcMethod } from '../../core/define.ts'

/** Price per gas, in wei. */
export default defineRpcMethod({
  method: 'eth_gasPrice',
  clauses: ['eth-rpc.eth_gasPrice.success', 'eth-rpc.eth_gasPrice.result-schema', 'eth-rpc.eth_gasPrice.bad-params'],
  needs: ['chain'],
  handle: (_params, { chain }) => chain.gasPrice(),
})
