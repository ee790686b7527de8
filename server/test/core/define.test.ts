import { expect } from 'chai'
import { defineRpcMethod } from '../../core/define.ts'
import '../../services/chain/chain.ts'

const plugin = { clauses: [], needs: ['chain'] } as const

describe('defineRpcMethod', () => {
  it('takes params and result of a listed method from its schema: what drifts does not compile', () => {
    const right = defineRpcMethod({
      ...plugin,
      method: 'eth_getBalance',
      handle: ([address, block], { chain }) => chain.balance(address, block),
    })
    expect(right).to.include({ kind: 'rpc-method', method: 'eth_getBalance' })
    defineRpcMethod({
      ...plugin,
      method: 'eth_getBalance',
      // @ts-expect-error the schema has two params
      handle: ([address, block, more], { chain }) => chain.balance(address, more ?? block),
    })
    defineRpcMethod({
      ...plugin,
      method: 'eth_getTransactionReceipt',
      // @ts-expect-error the result is a receipt
      handle: ([hash], { chain }) => chain.transaction(hash),
    })
  })

  it('leaves other methods to their authors', () => {
    const own = defineRpcMethod({
      ...plugin,
      method: 'acme_head',
      handle: async ([prefix]: readonly [string], { chain }) => prefix + (await chain.blockNumber()),
    })
    expect(own.method).to.equal('acme_head')
  })
})
