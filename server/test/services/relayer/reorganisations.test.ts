import { expect } from 'chai'
import type { Profile } from '../../../../contracts/deploy/profile.ts'
import { createRelayClient, sendWei, setSomeData, type RelayClient } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const SIGNERS = 4

describe('relay calls in reorganisations', () => {
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient
  let channel = 0n

  before(async () => {
    chain = await startRelayChain('anvil', SIGNERS)
    server = await startRelayServer({
      rpcUrl: chain.node.rpcUrl,
      signerKeys: chain.signerKeys,
      config: { chain: { rpcUrls: [chain.node.rpcUrl], confirmations: 64 } },
      timings: { replaceAfterMs: 2_000, resendAfterMs: 300, lostAfterMs: 300 },
    })
    client = chain.client(server.url)
  })
  beforeEach(() => (channel += 1_000n))
  afterEach(() => chain.node.request('evm_setAutomine', true))
  after(async () => {
    await server.close()
    await chain.close()
  })

  const accept = async (call: Parameters<RelayClient['execute']>[0]): Promise<string> => {
    const { status, json } = await client.execute(call)
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash ?? ''
  }
  const statusOf = async (hash: string) => String((await client.status(hash)).json['status'])
  const becomes = (hash: string, wanted: string) => until(async () => (await statusOf(hash)) === wanted)
  const senderOf = async (hash: string) =>
    (await chain.node.request<{ from: string }>('eth_getTransactionByHash', hash)).from
  const settled = async (hashes: readonly string[]) => {
    // Ordered by time, the last ones are the last to be mined again.
    for (const hash of hashes.toReversed()) await until(async () => (await statusOf(hash)) !== 'pending')
    return Promise.all(hashes.map(statusOf))
  }

  it('of depth 3 with four signers keep the order of every channel: nothing reverts', async () => {
    const hashes: string[] = []
    await chain.node.request('evm_setAutomine', false)
    for (let id = 0n; id < 4n; id++) {
      // In another order each time: whoever has the least to do would be another one.
      const order = [0, 1, 2, 3, 4].map((at) => (at * (1 + Number(id)) + Number(id)) % 5)
      const sent: string[] = []
      await Promise.all(order.map(async (at) => (sent[at] = await accept({ channel: channel + BigInt(at), id }))))
      await chain.node.request('anvil_mine', 1)
      // Settled, so that nothing is pending when the next ones come.
      for (const hash of sent) await becomes(hash, 'succeeded')
      hashes.push(...sent)
    }
    const senders = await Promise.all(hashes.map(senderOf))
    expect(new Set(senders).size).to.be.greaterThan(1)
    for (let at = 0; at < 5; at++) {
      const ofChannel = senders.filter((_, index) => index % 5 === at)
      expect(new Set(ofChannel).size, ofChannel.join()).to.equal(1)
    }

    await chain.node.request('anvil_reorg', 3, [])
    const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
    expect(receipts.map((receipt) => receipt === null)).to.deep.equal(hashes.map((_, index) => index >= 5))
    await chain.node.request('evm_setAutomine', true)
    for (const hash of hashes) await until(async () => (await chain.receipt(hash)) !== null)
    expect(new Set(await settled(hashes))).to.deep.equal(new Set(['succeeded']))
  })

  it('do not keep a call from being taken before its predecessors are mined again', async () => {
    const hashes = [await accept({ channel }), await accept({ channel, id: 1n })]
    for (const hash of hashes) await becomes(hash, 'succeeded')
    await chain.node.request('evm_setAutomine', false)
    await chain.node.request('anvil_reorg', 2, [])
    hashes.push(await accept({ channel, id: 2n }))
    await chain.node.request('evm_setAutomine', true)
    await until(async () => (await chain.receipt(hashes[2])) !== null)
    expect(await settled(hashes)).to.deep.equal(['succeeded', 'succeeded', 'succeeded'])
  })

  describe('a call that has reverted', () => {
    const nobody = '0x000000000000000000000000000000000000dEaD'
    let profile: Profile

    // One whose calls have reverted is slowed down.
    beforeEach(async () => {
      profile = await chain.anotherProfile()
      // No reorganisation takes it away.
      await chain.node.request('anvil_mine', 6)
      const { chainId, controllers } = chain
      client = createRelayClient({ url: server.url, chainId, profile, controller: controllers.full })
    })

    const setBalance = (wei: bigint) => chain.node.request('anvil_setBalance', profile.address, `0x${wei.toString(16)}`)

    /** They pass the simulation, and find the profile's coin gone when they are mined. @returns their bodies and hashes */
    async function revert() {
      await setBalance(1_000n)
      await chain.node.request('evm_setAutomine', false)
      const bodies = [
        client.sign({ channel, payload: sendWei(nobody, 900n) }),
        // By itself it would succeed, but its nonce is not the next one.
        client.sign({ channel, id: 1n }),
      ]
      const hashes: string[] = []
      for (const body of bodies) hashes.push((await client.post(body)).json.transactionHash ?? '')
      await setBalance(0n)
      await chain.node.request('anvil_mine', 1)
      for (const hash of hashes) await becomes(hash, 'reverted')
      return { bodies, hashes }
    }

    it('is sent anew once it succeeds, and then is the same call again', async () => {
      const { bodies, hashes } = await revert()
      expect((await client.post(bodies[0])).json.transactionHash).to.equal(hashes[0])
      await setBalance(1_000n)
      const { status, json } = await client.post(bodies[0])
      expect(status, JSON.stringify(json)).to.equal(200)
      const again = json.transactionHash ?? ''
      expect(again).to.not.equal(hashes[0])
      expect((await client.post(bodies[0])).json.transactionHash).to.equal(again)
      // What followed it in its channel, and reverted for that, follows it again.
      const { transactionHash: next = '' } = (await client.post(bodies[1])).json
      expect(next).to.not.equal(hashes[1])
      await chain.node.request('anvil_mine', 1)
      await becomes(again, 'succeeded')
      await becomes(next, 'succeeded')
      expect(await Promise.all(hashes.map(statusOf))).to.deep.equal(['reverted', 'reverted'])
      expect((await client.post(bodies[0])).json.transactionHash).to.equal(again)
    })

    it('is executed once when a reorganisation brings it back beside the one that was sent anew', async () => {
      const { bodies, hashes } = await revert()
      const [hash = ''] = hashes
      await chain.node.request('evm_setAutomine', true)
      await setBalance(10_000n)
      const { json } = await client.post(bodies[0])
      const again = json.transactionHash ?? ''
      await becomes(again, 'succeeded')
      await chain.node.request('anvil_reorg', 3, [])
      expect(await chain.receipt(hash)).to.equal(null)
      // The coin of before the reorganisation is back, too: enough for all of them.
      await setBalance(10_000n)
      await until(async () => (await chain.receipt(hash)) !== null && (await chain.receipt(again)) !== null)
      const statuses = await settled([hash, again])
      expect(statuses.toSorted()).to.deep.equal(['reverted', 'succeeded'])
      // Nothing is stuck: the same accounts go on.
      for (let at = 10n; at < 14n; at++)
        await becomes(await accept({ channel: channel + at, payload: setSomeData() }), 'succeeded')
    })
  })
})
