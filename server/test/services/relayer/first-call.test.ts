import { expect } from 'chai'
import { HttpNode } from '../../../services/node/http-node.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

/** What the fees of a transaction are read by. */
const FEE_METHODS = ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas']

describe('a relay call after a pause', () => {
  let chain: RelayChain
  let server: RelayServer
  /** Methods that the node was asked for. */
  let asked: string[]
  /** Until this is resolved, the node does not answer what fees are read by. */
  let gate: Promise<void>
  let pausedMs: number

  class GatedNode extends HttpNode {
    override async call(...args: Parameters<HttpNode['call']>): Promise<unknown> {
      const [method] = args
      asked.push(method)
      if (FEE_METHODS.includes(method)) await gate
      return super.call(...args)
    }
  }

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
    asked = []
    gate = Promise.resolve()
    pausedMs = 0
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      clock: { nowMs: () => Date.now() + pausedMs, monotonicMs: () => performance.now() + pausedMs },
      compose: { edges: { connect: (url) => new GatedNode(url) } },
    })
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  it('finds fees and balances that were read at the start', async () => {
    await until(() => asked.includes('eth_maxPriorityFeePerGas') && asked.includes('eth_getBalance'))
  })

  it('is simulated while the fees are read, and sent with the new ones', async () => {
    const client = chain.client(server.url)
    const first = await client.execute({ channel: 1n })
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    await chain.node.request('hardhat_setNextBlockBaseFeePerGas', '0x174876e800')
    await chain.node.request('hardhat_mine')
    pausedMs += 60_000
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    asked.length = 0
    const answer = client.execute({ channel: 2n })
    try {
      await until(() => asked.includes('eth_call'))
      expect(asked).to.include.members(FEE_METHODS)
    } finally {
      resolve()
    }
    expect((await answer).status).to.equal(200)
    const feeOf = async (hash: string | undefined) => {
      const sent = await chain.node.request<{ maxFeePerGas: string }>('eth_getTransactionByHash', hash)
      return BigInt(sent.maxFeePerGas)
    }
    const [before, after] = [await feeOf(first.json.transactionHash), await feeOf((await answer).json.transactionHash)]
    expect(after > 2n * before, `${before}, ${after}`).to.equal(true)
  })
})
