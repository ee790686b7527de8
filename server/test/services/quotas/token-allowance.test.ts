import { expect } from 'chai'
import { AbiCoder, computeAddress, concat, getCreateAddress, Interface } from 'ethers'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSender } from '../../../../contracts/deploy/sender.ts'
import { testSigner } from '../../../../contracts/chain.ts'
import { testKey } from '../../../../testbed/relay-world.ts'
import { startTestbed, type Testbed } from '../../../../testbed/testbed.ts'
import { createRelayClient } from '../../support/relay-client.ts'
import { until } from '../../support/until.ts'

const plugin = join(import.meta.dirname, '../../fixtures/token-allowance.ts')
const artifact = join(
  import.meta.dirname,
  '../../../../node_modules/lsp-smart-contracts-0.10.3/artifacts/LSP7Mintable.json',
)
const DEPLOYER = 10
/** The first contract of the deployer, which the test deploys. */
const token = getCreateAddress({ from: computeAddress(testKey(DEPLOYER)), nonce: 0 })

describe('a quota model that asks the chain for a token (LSP7)', () => {
  let testbed: Testbed

  before(async () => {
    testbed = await startTestbed({
      config: {
        plugins: { external: [plugin] },
        quota: { plans: { default: { model: 'token-allowance', options: { token } } } },
      },
    })
  })
  after(() => testbed.close())

  async function mint(amount: bigint): Promise<void> {
    const { abi, bytecode } = JSON.parse(await readFile(artifact, 'utf8')) as {
      abi: ConstructorParameters<typeof Interface>[0]
      bytecode: string
    }
    const sender = await createSender(testSigner(testbed.chain, DEPLOYER))
    const types = ['string', 'string', 'address', 'bool']
    const args = AbiCoder.defaultAbiCoder().encode(types, ['Token', 'TKN', sender.address, true])
    const deployed = sender.deploy(concat([bytecode, args]))
    expect(deployed.address).to.equal(token)
    await deployed.deployed
    const { address } = testbed.fixture.profile
    const data = new Interface(abi).encodeFunctionData('mint', [address, amount, true, '0x'])
    await sender.mined(await sender.send({ to: token, data }))
  }

  it('refuses with 503 while the chain gives no answer, and gives gas by the balance afterwards', async () => {
    const { profile, controllers, chain } = testbed.fixture
    const client = createRelayClient({
      url: testbed.relayUrl,
      chainId: chain.chainId,
      profile,
      controller: controllers.full,
    })
    const before = Number(await testbed.chain.provider.request({ method: 'eth_blockNumber' }))
    for (const answer of [await client.quota(), await client.execute({ channel: 1n })]) {
      expect(answer.status).to.equal(503)
      expect(answer.json).to.include({ code: 'UPSTREAM_UNAVAILABLE', broadcast: false })
      expect(answer.json.message).to.include("the quota model 'token-allowance' does not answer")
      expect(answer.headers.get('retry-after')).to.equal('2')
    }
    expect(Number(await testbed.chain.provider.request({ method: 'eth_blockNumber' }))).to.equal(before)

    await mint(3n)
    expect((await client.quota()).json).to.include({ quota: 3_000_000, totalQuota: 3_000_000, unit: 'gas' })
    const relayed = await client.execute({ channel: 1n })
    expect(relayed.status, JSON.stringify(relayed.json)).to.equal(200)
    const used = async () => 3_000_000 - Number((await client.quota()).json['quota'])
    const hash = String(relayed.json.transactionHash)
    const gasUsed = async () => {
      const params = [hash]
      const receipt: unknown = await testbed.chain.provider.request({ method: 'eth_getTransactionReceipt', params })
      return Number((receipt as { gasUsed: string } | null)?.gasUsed)
    }
    await until(async () => (await used()) === (await gasUsed()))
    const page = await (await fetch(testbed.relayUrl)).text()
    expect(page).to.include('by profile')
  })
})
