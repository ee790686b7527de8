import { expect } from 'chai'
import type { RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const HOUR_MS = 3_600_000

describe('a clock that is set back by an hour', () => {
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient
  let aheadMs = HOUR_MS

  before(async () => {
    chain = await startRelayChain('anvil', 1)
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      timings: { replaceAfterMs: 600, resendAfterMs: 300 },
      clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() },
    })
    client = chain.client(server.url)
  })
  beforeEach(() => (aheadMs = HOUR_MS))
  after(async () => {
    await server.close()
    await chain.close()
  })

  const accept = async (id: bigint, channel = 1n): Promise<string> => {
    const { status, json } = await client.execute({ channel, id })
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash ?? ''
  }
  const attemptsOf = async (hash: string) => ((await client.status(hash)).json['attempts'] as unknown[]).length

  it('does not keep fees from being raised, one attempt after the other', async () => {
    await chain.node.request('evm_setAutomine', false)
    try {
      const hash = await accept(0n)
      aheadMs = 0
      await until(async () => (await attemptsOf(hash)) >= 2)
      // A block that leaves the transaction out: while none comes, the fees are raised once.
      await chain.node.request('anvil_setNextBlockBaseFeePerGas', 100_000_000_000)
      await chain.node.request('anvil_mine', 1)
      await until(async () => (await attemptsOf(hash)) >= 3)
      // An attempt is stored before the node has it, so the first block may come too early.
      await until(async () => {
        await chain.node.request('anvil_mine', 1)
        return (await client.status(hash)).json['status'] === 'succeeded'
      })
    } finally {
      await chain.node.request('evm_setAutomine', true)
    }
  })
})
