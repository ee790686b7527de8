import { expect } from 'chai'
import type { CheckContext } from '../../../lib/clause.ts'
import { knownPrices } from '../../../lib/eth-rpc/prices.ts'

/** A chain whose blocks hold transactions that paid these prices, in wei. */
function onChain(pricesWei: readonly bigint[]): CheckContext {
  const hex = (value: bigint) => `0x${value.toString(16)}`
  const answers: Readonly<Record<string, unknown>> = {
    eth_blockNumber: '0x1',
    eth_getBlockByNumber: {
      baseFeePerGas: '0x0',
      transactions: pricesWei.map((price) => ({ gasPrice: hex(price) })),
    },
    eth_gasPrice: hex(pricesWei.at(-1) ?? 0n),
    eth_getLogs: [],
  }
  const send = async (method: string) => answers[method]
  const chain = { send, attempt: async (method: string) => ({ result: answers[method] }) }
  const context = {
    chain,
    hasChain: true,
    fixture: {},
    rpc: { call: async () => ({}) },
    once: (_key: string, work: (shared: unknown) => unknown) => Promise.resolve(work(context)),
  }
  return context as unknown as CheckContext
}

describe('knownPrices', () => {
  it('leaves out what paid nothing where others paid', async () => {
    expect((await knownPrices(onChain([0n, 5n, 7n]))).price).to.deep.equal({ lowest: 5n, highest: 7n })
  })

  it('is zero on a chain where nobody pays', async () => {
    expect((await knownPrices(onChain([0n, 0n]))).price).to.deep.equal({ lowest: 0n, highest: 0n })
  })
})
