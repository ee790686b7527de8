import { expect } from 'chai'
import { FAULTS, startFaultyNode, type FaultyNode } from '../../../../testbed/faulty-node.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const CALLS = 24
const TOGETHER = 6

describe('relayer, in front of several nodes', () => {
  let chain: RelayChain
  let nodes: FaultyNode[]
  let server: RelayServer
  let channel = 0n

  before(async () => (chain = await startRelayChain('hardhat', 2)))
  after(() => chain.close())
  afterEach(async () => {
    await server.close()
    for (const node of nodes) await node.close()
  })

  for (const fault of FAULTS) {
    it(`sends nothing twice, loses nothing and settles as mined when the preferred node is ${fault}`, async () => {
      // Two nodes on two forks have nobody to decide between them.
      nodes = await Promise.all(
        Array.from({ length: fault === 'fork' ? 3 : 2 }, () => startFaultyNode(chain.node.rpcUrl)),
      )
      const rpcUrls = nodes.map(({ url }) => url)
      server = await startRelayServer({
        rpcUrl: rpcUrls[0] ?? '',
        signerKeys: chain.signerKeys,
        config: { chain: { rpcUrls, confirmations: 0 } },
        timings: { resendAfterMs: 300 },
      })
      const client = chain.client(server.url)
      const before = await noncesOf(chain)
      await client.execute({ channel: ++channel })
      await nodes[0]?.setFault(fault)

      const hashes: string[] = []
      for (let done = 0; done < CALLS; done += TOGETHER) {
        const answers = await Promise.all(
          Array.from({ length: TOGETHER }, () => client.execute({ channel: ++channel })),
        )
        expect(
          answers.map(({ status }) => status),
          JSON.stringify(answers),
        ).to.deep.equal(answers.map(() => 200))
        hashes.push(...answers.map(({ json }) => json.transactionHash ?? ''))
      }
      await until(async () => (await server.services.relays.countSince(0)).pending === 0)

      for (const hash of hashes) expect((await chain.receipt(hash))?.status, hash).to.equal('0x1')
      const counts = await server.services.relays.countSince(0)
      expect(counts).to.include({ succeeded: CALLS + 1, reverted: 0, abandoned: 0 })
      expect((await noncesOf(chain)) - before).to.equal(CALLS + 1)
      const sent = nodes.flatMap(({ calls }) => calls.filter(({ method }) => method === 'eth_sendRawTransaction'))
      expect(new Set(sent.map(({ params }) => params[0])).size, 'different transactions').to.equal(CALLS + 1)
    })
  }
})

async function noncesOf({ node, signers }: RelayChain): Promise<number> {
  const nonces = await Promise.all(
    signers.map((signer) => node.request<string>('eth_getTransactionCount', signer, 'latest')),
  )
  return nonces.reduce((sum, nonce) => sum + Number(nonce), 0)
}
