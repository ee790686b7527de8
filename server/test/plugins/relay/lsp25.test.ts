import { expect } from 'chai'
import { deployProxiedProfile, startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { createRelayClient, type RelayClient } from '../../support/relay-client.ts'
import { startBundlingServer, startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

for (const [relay, start] of [
  ['alone', (chain: RelayChain) => startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys })],
  ['in bundles', (chain: RelayChain) => startBundlingServer(chain)],
] as const) {
  describe(`relay plugin lsp25, for a profile behind proxies, as LUKSO deploys them, ${relay}`, () => {
    let chain: RelayChain
    let server: RelayServer
    let client: RelayClient

    before(async () => {
      chain = await startRelayChain('hardhat', 1)
      server = await start(chain)
      const profile = await chain.anotherProfile(deployProxiedProfile)
      client = createRelayClient({
        url: server.url,
        chainId: chain.chainId,
        profile,
        controller: chain.controllers.full,
      })
    })
    after(async () => {
      await server.close()
      await chain.close()
    })

    it('relays calls of one channel and of several, and tells what is left', async () => {
      const calls = [{ channel: 1n }, { channel: 1n, id: 1n }, { channel: 2n }]
      for (const answer of await Promise.all(calls.map((call) => client.execute(call)))) {
        expect(answer.status, JSON.stringify(answer.json)).to.equal(200)
        const hash = answer.json.transactionHash ?? ''
        await until(async () => (await client.status(hash)).json['status'] === 'succeeded')
      }
      const { status, json } = await client.quota()
      expect(status, JSON.stringify(json)).to.equal(200)
      expect(json['quota']).to.be.lessThan(Number(json['totalQuota']))
    })
  })
}
