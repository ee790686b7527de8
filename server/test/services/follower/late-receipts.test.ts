import { expect } from 'chai'
import { startNodeProxy, type NodeProxy } from '../../support/nodes.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const RECEIPT = 'eth_getTransactionReceipt'

describe('a node that has the receipts late', () => {
  let chain: RelayChain
  let proxy: NodeProxy
  let server: RelayServer
  let aheadMs = 0

  before(async () => {
    chain = await startRelayChain('anvil', 1)
    proxy = await startNodeProxy(chain.node.rpcUrl)
    server = await startRelayServer({
      rpcUrl: proxy.url,
      signerKeys: chain.signerKeys,
      clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs },
    })
  })
  after(async () => {
    await server.close()
    await proxy.close()
    await chain.close()
  })

  it('does not make a call that was executed one that is given up for nothing', async () => {
    const client = chain.client(server.url)
    proxy.blindMethod = RECEIPT
    const { json } = await client.execute({ channel: 1n })
    const hash = json.transactionHash ?? ''
    // It is looked for, found lost, and looked for again when it has been lost for long.
    for (let turn = 0; turn < 12; turn++) {
      const before = proxy.calls.get(RECEIPT) ?? 0
      await until(() => (proxy.calls.get(RECEIPT) ?? 0) > before)
      aheadMs += 60_000
    }
    delete proxy.blindMethod
    await until(async () => (await client.status(hash)).json['status'] !== 'pending')
    const { status, gasUsed, charged } = (await client.status(hash)).json as Record<string, unknown>
    expect(status).to.equal('succeeded')
    expect(charged).to.deep.equal({ amount: gasUsed, unit: 'gas' })
  })
})
