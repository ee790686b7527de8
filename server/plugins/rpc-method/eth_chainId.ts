import { defineRpcMethod } from '../../core/define.ts'

/** The chain's id. */
export default defineRpcMethod({
  method: 'eth_chainId',
  clauses: ['eth-rpc.eth_chainId.success', 'eth-rpc.eth_chainId.result-schema', 'eth-rpc.eth_chainId.bad-params'],
  needs: ['chain'],
  handle: (_params, { chain }) => chain.id(),
})
