import { expect } from 'chai'
import { keccak256, SigningKey, solidityPacked, Wallet } from 'ethers'
import { permissionSets } from '../../../../contracts/deploy/profile.ts'
import { validityWindow } from '../../../../contracts/lsp25.ts'
import { testSigner } from '../../../../contracts/chain.ts'
import { startTestbed, type Testbed } from '../../../../testbed/testbed.ts'
import { deployOlderProfile, type OlderVersion } from '../../support/relay-chain.ts'
import { createRelayClient, setSomeData, type RelayClient } from '../../support/relay-client.ts'
import { until } from '../../support/until.ts'

describe('relay plugin lsp6', () => {
  const controller = new Wallet(Wallet.createRandom().privateKey)
  const permissions = permissionSets.full
  let bed: Testbed

  before(async () => {
    bed = await startTestbed()
  })
  after(() => bed.close())

  for (const version of ['0.8.1', '0.10.3'] as const) {
    describe(`key manager of contracts ${version}`, () => {
      let client: RelayClient

      before(async () => {
        const profile = await deployOlderProfile(
          version,
          testSigner(bed.chain),
          [{ address: controller.address, permissions }],
          controller,
        )
        client = createRelayClient({ url: bed.relayUrl, chainId: bed.chain.chainId, profile, controller })
      })

      it('relays a call signed in its form', async () => {
        const { status, json } = await client.post(body(client, version, { nonce: 0n }))
        expect(status, JSON.stringify(json)).to.equal(200)
        await until(async () => (await receipt(bed, json.transactionHash)) === '0x1')
      })

      it('takes the next calls of a channel without waiting', async () => {
        const channel = 7n << 128n
        const answers = await Promise.all(
          [0n, 1n, 2n].map((id) => client.post(body(client, version, { nonce: channel | id }))),
        )
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200])
        for (const { json } of answers) await until(async () => (await receipt(bed, json.transactionHash)) === '0x1')
      })

      it('names the mistake when the call was signed in the form of LSP25', async () => {
        const { status, json } = await client.execute({ channel: 1n })
        expect(status).to.equal(401)
        expect(json.code).to.equal('INVALID_SIGNATURE')
        expect(json.details?.['controller']).to.equal(controller.address)
        expect(json.details?.['likelyMistake']).to.include('version 25')
      })

      it('tells what is left', async () => {
        const { status, json } = await client.quota()
        expect(status, JSON.stringify(json)).to.equal(200)
        expect(json['unit']).to.equal('gas')
      })
    })
  }

  it('refuses a validity window where the key manager knows none', async () => {
    const client = await clientOf('0.8.1')
    const { status, json } = await client.post(
      body(client, '0.8.1', { nonce: 5n << 128n, validityTimestamps: validityWindow(0, 4_000_000_000) }),
    )
    expect(status).to.equal(400)
    expect(json.code).to.equal('INVALID_REQUEST')
  })

  it('keeps to the validity window where the key manager knows it', async () => {
    const client = await clientOf('0.10.3')
    const open = validityWindow(1, 4_000_000_000)
    const accepted = await client.post(body(client, '0.10.3', { nonce: 0n, validityTimestamps: open }))
    expect(accepted.status, JSON.stringify(accepted.json)).to.equal(200)
    const over = validityWindow(1, 2)
    const { status, json } = await client.post(body(client, '0.10.3', { nonce: 1n, validityTimestamps: over }))
    expect(status).to.equal(422)
    expect(json.details?.['error']).to.equal('RelayCallExpired')
  })

  async function clientOf(version: OlderVersion): Promise<RelayClient> {
    const own = new Wallet(Wallet.createRandom().privateKey)
    const profile = await deployOlderProfile(
      version,
      testSigner(bed.chain),
      [{ address: own.address, permissions }],
      own,
    )
    return createRelayClient({ url: bed.relayUrl, chainId: bed.chain.chainId, profile, controller: own })
  }
})

/** The signed message before LSP25, spelt out: version 6, the validity only since contracts 0.10. */
function body(
  client: RelayClient,
  version: OlderVersion,
  { nonce, validityTimestamps = 0n }: { nonce: bigint; validityTimestamps?: bigint },
) {
  const { address, keyManager } = client.profile
  const payload = setSomeData()
  const validity = version === '0.8.1' ? [] : [validityTimestamps]
  const words = [6n, BigInt(client.chainId), nonce, ...validity, 0n]
  const digest = keccak256(
    solidityPacked(
      ['bytes2', 'address', ...words.map(() => 'uint256'), 'bytes'],
      ['0x1900', keyManager, ...words, payload],
    ),
  )
  const signature = new SigningKey(client.controller.privateKey).sign(digest).serialized
  const window = validityTimestamps === 0n ? {} : { validityTimestamps: `0x${validityTimestamps.toString(16)}` }
  return { address, transaction: { abi: payload, signature, nonce, ...window } }
}

async function receipt(bed: Testbed, hash: string | undefined): Promise<string | undefined> {
  const found = (await bed.chain.provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
    status: string
  } | null
  return found?.status
}
