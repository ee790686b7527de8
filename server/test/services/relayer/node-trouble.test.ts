import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { byWebSocket } from '../../../../testbed/processes.ts'
import { startNodeProxy, type NodeProxy } from '../../support/nodes.ts'
import type { Answer, RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

for (const way of ['HTTP', 'WebSocket'] as const) {
  describe(`relayer, when the node is in trouble, by ${way}`, () => {
    const isWebSocket = way === 'WebSocket'
    let chain: RelayChain
    let proxy: NodeProxy
    let server: RelayServer
    let client: RelayClient

    before(async () => {
      chain = await startRelayChain('hardhat', 2)
      proxy = await startNodeProxy(chain.node.rpcUrl)
      const rpcUrl = isWebSocket ? byWebSocket(proxy.url) : proxy.url
      server = await startRelayServer({
        rpcUrl,
        signerKeys: chain.signerKeys,
        config: { chain: { rpcUrls: [rpcUrl], confirmations: 0, requestTimeoutMs: 5_000 } },
        timings: { resendAfterMs: 300 },
      })
      client = chain.client(server.url)
    })
    after(async () => {
      await server.close()
      await proxy.close()
      await chain.close()
    })

    const settled = async () => {
      await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    }

    /** Every acknowledged call is mined once, with success; nothing else was sent. */
    async function assertNothingLostOrDoubled(hashes: readonly string[]): Promise<void> {
      await settled()
      for (const hash of hashes) {
        const { json } = await client.status(hash)
        expect(json['status'], hash).to.equal('succeeded')
      }
      const counts = await server.services.relays.countSince(0)
      const nonces = await Promise.all(
        chain.signers.map((signer) => chain.node.request<string>('eth_getTransactionCount', signer, 'latest')),
      )
      expect(nonces.reduce((sum, nonce) => sum + Number(nonce), 0)).to.equal(counts.succeeded)
      expect(counts.reverted + counts.abandoned).to.equal(0)
    }

    it('loses and doubles nothing when it goes away for five seconds, and says 503 meanwhile', async () => {
      const hashes: string[] = []
      const refusals: Answer[] = []
      let isOver = false
      const callers = Array.from({ length: 6 }, async (_, worker) => {
        for (let id = 0n; !isOver; id++) {
          const body = client.sign({ channel: BigInt(100 + worker), id })
          for (;;) {
            const answer = await client.post(body)
            if (answer.status === 200) {
              hashes.push(answer.json.transactionHash ?? '')
              break
            }
            refusals.push(answer)
            await sleep(100)
          }
        }
      })
      await until(() => hashes.length > 12)
      proxy.goDown()
      await sleep(5_000)
      proxy.comeBack()
      const before = hashes.length
      await until(() => hashes.length > before + 12)
      isOver = true
      await Promise.all(callers)

      expect(refusals).to.not.be.empty
      for (const { status, json } of refusals) {
        expect(status, JSON.stringify(json)).to.equal(503)
        expect(json.code).to.equal('UPSTREAM_UNAVAILABLE')
        expect(json.broadcast).to.equal(false)
      }
      await assertNothingLostOrDoubled(hashes)
    })

    // What holds the answers back looks at requests.
    if (!isWebSocket)
      it('answers, slowly, when each call of the node takes a second', async () => {
        proxy.delayMs = 1_000
        const answers = await Promise.all(
          Array.from({ length: 12 }, (_, index) => client.execute({ channel: BigInt(200 + index) })),
        )
        proxy.delayMs = 0
        expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200))
        await assertNothingLostOrDoubled(answers.map(({ json }) => json.transactionHash ?? ''))
      })
  })
}
