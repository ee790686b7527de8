import { expect } from 'chai'
import { byWebSocket } from '../../../../testbed/processes.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

for (const kind of ['hardhat', 'anvil'] as const) {
  describe(`relayer, with ${kind} by WebSocket`, () => {
    let chain: RelayChain
    let server: RelayServer

    before(async () => {
      chain = await startRelayChain(kind, 2)
      server = await startRelayServer({ rpcUrl: byWebSocket(chain.node.rpcUrl), signerKeys: chain.signerKeys })
    })
    after(async () => {
      await server.close()
      await chain.close()
    })

    it('mines calls of many channels, and those of one channel in their order, that come at once', async () => {
      const client = chain.client(server.url)
      const ids = Array.from({ length: 20 }, (_, index) => BigInt(index))
      const answers = await Promise.all([
        ...ids.map((channel) => client.execute({ channel: 100n + channel })),
        ...ids.slice(0, 10).map((id) => client.execute({ channel: 1n, id })),
      ])
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200))
      const hashes = answers.map(({ json }) => json.transactionHash)
      expect(new Set(hashes).size).to.equal(hashes.length)
      await until(async () => (await server.services.relays.countSince(0)).pending === 0)
      const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
      expect(receipts.map((receipt) => receipt?.status)).to.deep.equal(hashes.map(() => '0x1'))
    })
  })
}
