import { expect } from 'chai'
import { startRollup } from '../../support/nodes.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { type RelayClient } from '../../support/relay-client.ts'
import { startBundlingServer, type BundlingServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

describe('what a rollup takes for data', () => {
  let chain: RelayChain
  let server: BundlingServer
  let client: RelayClient

  before(async () => {
    chain = await startRelayChain(await startRollup(), 1)
    server = await startBundlingServer(chain, {
      config: {
        quota: { plans: { default: { model: 'pay-as-you-go-lyx', options: { initialWei: String(10n ** 18n) } } } },
      },
    })
    client = chain.client(server.url)
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  /** What the relayer's account has, in wei. */
  const funds = async () => BigInt(await chain.node.request<string>('eth_getBalance', chain.signers[0], 'latest'))
  /** What the profile has used of its credit, in wei; `POST /quota` rounds it to the gwei. */
  const used = async () => {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    const profile = await server.database.db.selectFrom('profiles').select('used').executeTakeFirst()
    return BigInt(profile?.used ?? 0)
  }
  const call = (channel: bigint) => async () => {
    const { status, json } = await client.execute({ channel })
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash
  }

  for (const [calls, first] of [
    [1, 10n],
    [5, 20n],
  ] as const) {
    it(`is charged with the gas of ${calls === 1 ? 'a call' : `${calls} calls that share a transaction`}`, async () => {
      const before = { funds: await funds(), used: await used() }
      const channels = Array.from({ length: calls }, (_, index) => first + BigInt(index))
      const hashes = new Set(await server.together(channels.map(call)))
      expect(hashes.size).to.equal(1)
      const [hash] = hashes
      const receipt = await chain.node.request<{ l1Fee: string }>('eth_getTransactionReceipt', hash)
      expect(Number(receipt.l1Fee)).to.be.greaterThan(0)
      expect((await used()) - before.used).to.equal(before.funds - (await funds()))
    })
  }
})
