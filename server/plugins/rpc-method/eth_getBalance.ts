import { defineRpcMethod } from '../../core/define.ts'

/** Balance of an address at the end of a block, in wei. */
export default defineRpcMethod({
  method: 'eth_getBalance',
  clauses: [
    'eth-rpc.eth_getBalance.success',
    'eth-rpc.eth_getBalance.earliest',
    'eth-rpc.eth_getBalance.result-schema',
    'eth-rpc.eth_getBalance.bad-params',
    'eth-rpc.types.address',
    'eth-rpc.types.block-tags',
    'eth-rpc.types.block-number',
  ],
  needs: ['chain'],
  handle: ([address, block], { chain }) => chain.balance(address, block),
})
