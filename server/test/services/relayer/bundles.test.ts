import { expect } from 'chai'
import { computeAddress, Wallet } from 'ethers'
import { keyManagerInterface, type Profile } from '../../../../contracts/deploy/profile.ts'
import { relayNonce, validityWindow } from '../../../../contracts/lsp25.ts'
import { startBundlingServer, type BundlingServer } from '../../support/relay-server.ts'
import { deployFalseProfile, impostorInterface } from '../../../../contracts/deploy/targets.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { createRelayClient, sendWei, setSomeData, type Answer, type RelayClient } from '../../support/relay-client.ts'
import { until } from '../../support/until.ts'

const nobody = '0x000000000000000000000000000000000000dEaD'

/** A call of one of the profiles. */
interface Call {
  readonly channel: bigint
  readonly id?: bigint
  readonly payload?: string
  readonly validityTimestamps?: bigint
}

describe('relay calls that share a transaction', () => {
  let chain: RelayChain
  let server: BundlingServer
  let client: RelayClient
  let other: RelayClient
  let impostor: RelayClient
  let channel = 0n

  before(async () => {
    chain = await startRelayChain('anvil', 1)
    server = await startBundlingServer(chain, {
      config: { chain: { rpcUrls: [chain.node.rpcUrl], confirmations: 8 } },
      timings: { replaceAfterMs: 600, resendAfterMs: 300, lostAfterMs: 300 },
    })
    client = chain.client(server.url)
    other = clientOf(await chain.anotherProfile())
    impostor = clientOf(await deployFalseProfile(chain.sender))
    // From now on accounts and prices are known.
    await becomes(await hashOf(client.execute({ channel: 999_999n })), 'succeeded')
  })
  beforeEach(() => (channel += 100n))
  afterEach(() => chain.node.request('evm_setAutomine', true))
  after(async () => {
    await server.close()
    await chain.close()
  })

  const clientOf = (profile: Profile) =>
    createRelayClient({ url: server.url, chainId: chain.chainId, profile, controller: chain.controllers.full })
  const hashOf = async (answering: Promise<Answer>) => {
    const { status, json } = await answering
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash ?? ''
  }
  /** Has calls taken that wait for the account at the same moment. @returns the hash that all are told */
  async function bundle(calls: readonly (Call & { readonly by?: RelayClient })[], untried = 0): Promise<string> {
    const hashes = await server.together(
      calls.map(
        ({ by = client, ...call }) =>
          () =>
            hashOf(by.execute(call)),
      ),
      untried,
    )
    expect(new Set(hashes).size, hashes.join()).to.equal(1)
    return hashes[0] ?? ''
  }
  const statusOf = async (hash: string, query = '') => (await client.status(hash, query)).json as unknown as Status
  const ofCall = (channelOfCall: bigint, id = 0n, by = client) =>
    `?profile=${by.profile.address}&signer=${by.controller.address}&nonce=${relayNonce(channelOfCall, id)}`
  const becomes = (hash: string, wanted: string, query = '') =>
    until(async () => (await statusOf(hash, query)).status === wanted)
  /** What became of these calls, however the bundle has them in order. */
  const statuses = (hash: string, calls: readonly (readonly [bigint, RelayClient])[]) =>
    Promise.all(calls.map(async ([of, by]) => (await statusOf(hash, ofCall(of, 0n, by))).status))
  const usedBy = async (by: RelayClient) => {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    const { json } = await by.quota()
    return Number(json['totalQuota']) - Number(json['quota'])
  }
  const mine = (blocks = 1) => chain.node.request('anvil_mine', blocks)
  const gasOf = async (hash: string) => Number((await chain.receipt(hash))?.gasUsed)
  const sum = (amounts: readonly (number | null)[]) => amounts.reduce<number>((total, one) => total + Number(one), 0)

  it('are told one hash, and each is told of by its place in its channel', async () => {
    const before = [await usedBy(client), await usedBy(other)]
    const hash = await bundle([{ channel }, { channel: channel + 1n }, { by: other, channel }])
    await becomes(hash, 'succeeded')
    const { calls = [], gasUsed, charged, transactionHash } = await statusOf(hash)
    expect(transactionHash).to.equal(hash)
    expect(calls.map(({ profile, nonce }) => [profile, BigInt(nonce)])).to.have.deep.members([
      [client.profile.address, relayNonce(channel, 0n)],
      [client.profile.address, relayNonce(channel + 1n, 0n)],
      [other.profile.address, relayNonce(channel, 0n)],
    ])
    const gasBy = ({ profile }: RelayClient) =>
      sum(calls.filter((call) => call.profile === profile.address).map((call) => call.gasUsed))
    expect(gasUsed).to.equal(await gasOf(hash))
    expect(sum(calls.map((call) => call.gasUsed))).to.equal(gasUsed)
    expect(charged).to.deep.equal({ amount: gasUsed, unit: 'gas' })
    const own = await statusOf(hash, ofCall(channel, 0n, other))
    expect(own).to.include({ status: 'succeeded', gasUsed: gasBy(other) })
    expect(own.charged).to.deep.equal({ amount: gasBy(other), unit: 'gas' })
    expect(own.calls).to.have.length(1)
    const after = [await usedBy(client), await usedBy(other)]
    expect(after.map((used, at) => used - (before[at] ?? 0))).to.deep.equal([gasBy(client), gasBy(other)])
  })

  it('cost less than they would alone', async () => {
    const alone = await hashOf(client.execute({ channel: channel + 50n }))
    await becomes(alone, 'succeeded')
    const hash = await bundle(Array.from({ length: 10 }, (_, at) => ({ channel: channel + BigInt(at) })))
    await becomes(hash, 'succeeded')
    const { calls = [] } = await statusOf(hash)
    const most = await gasOf(alone)
    for (const { gasUsed } of calls) expect(Number(gasUsed)).to.be.lessThan(most)
    expect(await gasOf(hash)).to.be.lessThan(10 * most * 0.71)
  })

  it('are told of by filters that make sense', async () => {
    const hash = await bundle([{ channel }, { channel: channel + 1n }])
    const codeOf = async (query: string) => {
      const { status, json } = await client.status(hash, query)
      return [status, json.code]
    }
    expect(await codeOf('?nonce=1')).to.deep.equal([404, 'NOT_FOUND'])
    expect(await codeOf(`?profile=${nobody}`)).to.deep.equal([404, 'NOT_FOUND'])
    for (const query of ['?nonce=x', '?nonce=-1', '?profile=0x12', '?signer=me', `?nonce=0x1${'0'.repeat(64)}`]) {
      expect(await codeOf(query), query).to.deep.equal([400, 'INVALID_REQUEST'])
    }
    expect((await statusOf(hash, `?profile=${client.profile.address.toLowerCase()}`)).calls).to.have.length(2)
    const single = await hashOf(client.execute({ channel: channel + 2n }))
    expect((await client.status(single, ofCall(channel + 2n))).json).to.not.have.property('calls')
    expect((await client.status(single, ofCall(channel + 3n))).status).to.equal(404)
  })

  it('are alone when they come alone, and at once', async () => {
    const hash = await hashOf(client.execute({ channel }))
    const { to } = await chain.node.request<{ to: string }>('eth_getTransactionByHash', hash)
    expect(to).to.equal(client.profile.keyManager.toLowerCase())
    expect(await statusOf(hash)).to.not.have.property('calls')
  })

  it('keep the order of their channel, and the same call again is the same call', async () => {
    await chain.node.request('evm_setAutomine', false)
    const first = await hashOf(client.execute({ channel }))
    const next = Array.from({ length: 5 }, (_, at) => ({ channel, id: BigInt(at) + 1n }))
    const hashes = await Promise.all(next.toReversed().map((call) => hashOf(client.execute(call))))
    await chain.node.request('evm_setAutomine', true)
    await mine()
    for (const [at, hash] of hashes.entries()) await becomes(hash, 'succeeded', ofCall(channel, BigInt(5 - at)))
    expect(new Set(hashes).size).to.be.lessThan(5)
    const again = await Promise.all(next.toReversed().map((call) => hashOf(client.execute(call))))
    expect(again).to.deep.equal(hashes)
    expect(await hashOf(client.execute({ channel }))).to.equal(first)
  })

  it('are refused each for itself', async () => {
    const requests = [
      () => client.execute({ channel }),
      () => client.execute({ channel: channel + 1n, payload: sendWei(nobody, 10n ** 24n) }),
      () => other.execute({ channel }),
    ]
    const answers = await server.together(requests)
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 422, 200])
    expect(answers[0]?.json.transactionHash).to.equal(answers[2]?.json.transactionHash)
    await becomes(answers[0]?.json.transactionHash ?? '', 'succeeded')
  })

  describe('one of which fails in the block', () => {
    const mislead = async (whether: boolean) => {
      const data = impostorInterface.encodeFunctionData('mislead', [whether])
      await chain.sender.mined(await chain.sender.send({ to: impostor.profile.keyManager, data }))
    }
    afterEach(() => mislead(false))

    it('cost the others nothing: it is charged what it used and reported as reverted', async () => {
      const quiet = await bundle([{ channel }, { by: impostor, channel }, { by: other, channel }])
      await becomes(quiet, 'succeeded')
      await mislead(true)
      const hash = await bundle([
        { channel: channel + 1n },
        { by: impostor, channel: channel + 1n },
        { by: other, channel: channel + 1n },
      ])
      await becomes(hash, 'mixed')
      const gasUsed = async (of: string, at: bigint, by: RelayClient) =>
        (await statusOf(of, ofCall(at, 0n, by))).gasUsed
      for (const by of [client, other]) {
        expect((await statusOf(hash, ofCall(channel + 1n, 0n, by))).status).to.equal('succeeded')
        const before = Number(await gasUsed(quiet, channel, by))
        expect(await gasUsed(hash, channel + 1n, by)).to.be.within(before - 5_000, before)
      }
      const failed = await statusOf(hash, ofCall(channel + 1n, 0n, impostor))
      expect(failed.status).to.equal('reverted')
      expect(failed.charged).to.deep.equal({ amount: failed.gasUsed, unit: 'gas' })
      expect(Number(failed.gasUsed)).to.be.greaterThan(5_000)
      const { calls = [] } = await statusOf(hash)
      expect(sum(calls.map((call) => call.gasUsed))).to.equal(await gasOf(hash))
    })

    it('leave the failed one to be sent anew', async () => {
      await mislead(true)
      const hash = await bundle([{ channel }, { by: impostor, channel }])
      await becomes(hash, 'mixed')
      await mislead(false)
      // The simulation is of the chain as it is now; the profile is slowed from the fourth revert on.
      const again = await hashOf(impostor.execute({ channel }))
      expect(again).to.not.equal(hash)
      await becomes(again, 'succeeded')
    })

    it('is told as reverted when its nonce was used meanwhile', async () => {
      await chain.node.request('evm_setAutomine', false)
      const hash = await bundle([{ channel }, { channel: channel + 1n }, { by: other, channel }])
      await chain.node.request('anvil_dropTransaction', hash)
      const { transaction } = client.sign({ channel, payload: setSomeData('0x77') })
      const args = [transaction.signature, relayNonce(channel, 0n), 0n, transaction.abi]
      const data = keyManagerInterface.encodeFunctionData('executeRelayCall', args)
      await chain.sender.send({ to: client.profile.keyManager, data })
      await mine()
      await chain.node.request('evm_setAutomine', true)
      await becomes(hash, 'mixed')
      expect(
        await statuses(hash, [
          [channel, client],
          [channel + 1n, client],
          [channel, other],
        ]),
      ).to.deep.equal(['reverted', 'succeeded', 'succeeded'])
    })
  })

  it('get higher fees together, and are known by every hash', async () => {
    await chain.node.request('evm_setAutomine', false)
    const hash = await bundle([{ channel }, { by: other, channel }])
    // An attempt is stored before it is sent: it counts when the node holds it in place of the first.
    await until(async () => (await chain.node.request('eth_getTransactionByHash', hash)) === null)
    await mine()
    await becomes(hash, 'succeeded')
    const { attempts, transactionHash, calls = [] } = await statusOf(hash)
    expect(transactionHash).to.not.equal(hash)
    for (const attempt of attempts) {
      const told = await statusOf(attempt.transactionHash, ofCall(channel, 0n, other))
      expect(told).to.include({ transactionHash, status: 'succeeded' })
    }
    expect(sum(calls.map(({ gasUsed }) => gasUsed))).to.equal(await gasOf(transactionHash))
    expect(calls).to.have.length(2)
  })

  /** Mines a transaction of the signer's that the server knows nothing of, in place of this one. */
  async function useNonceUp(hash: string): Promise<void> {
    const { nonce } = await chain.node.request<{ nonce: string }>('eth_getTransactionByHash', hash)
    await chain.node.request('anvil_dropTransaction', hash)
    const key = chain.signerKeys[0] ?? ''
    const account = new Wallet(key, chain.node.wallet.provider)
    expect(computeAddress(key)).to.equal(chain.signers[0])
    await account.sendTransaction({ to: nobody, nonce: Number(nonce), gasLimit: 21_000n, maxFeePerGas: 10n ** 11n })
    await mine()
  }

  it('take another nonce together when something else has used theirs', async () => {
    await chain.node.request('evm_setAutomine', false)
    const hash = await bundle([{ channel }, { by: other, channel }, { channel: channel + 1n }])
    await useNonceUp(hash)
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, 'succeeded')
    const { transactionHash, calls = [] } = await statusOf(hash)
    expect((await chain.receipt(transactionHash))?.status).to.equal('0x1')
    expect(sum(calls.map(({ gasUsed }) => gasUsed))).to.equal(await gasOf(transactionHash))
  })

  for (const [what, count] of [
    ['several', 3],
    ['one', 2],
  ] as const) {
    it(`go on without a call that cannot be executed any more, which is charged nothing: ${what} left`, async () => {
      const before = await usedBy(client)
      await chain.node.request('evm_setAutomine', false)
      const others = [{ channel }, { channel: channel + 1n }]
        .slice(0, count - 1)
        .map((call) => ({ ...call, by: other }))
      const hash = await bundle([{ channel }, ...others])
      await useNonceUp(hash)
      const { transaction } = client.sign({ channel, payload: setSomeData('0x77') })
      const args = [transaction.signature, relayNonce(channel, 0n), 0n, transaction.abi]
      const data = keyManagerInterface.encodeFunctionData('executeRelayCall', args)
      await chain.sender.send({ to: client.profile.keyManager, data })
      await mine()
      await chain.node.request('evm_setAutomine', true)
      await becomes(hash, 'mixed')
      const ofOthers = others.map((call) => [call.channel, other] as const)
      expect(await statuses(hash, [[channel, client], ...ofOthers])).to.deep.equal([
        'abandoned',
        ...others.map(() => 'succeeded'),
      ])
      const { transactionHash, gasUsed } = await statusOf(hash, ofCall(channel, 0n, other))
      expect(transactionHash).to.not.equal(hash)
      if (count === 2) expect(gasUsed).to.equal(await gasOf(transactionHash))
      expect((await statusOf(hash, ofCall(channel))).charged?.amount ?? 0).to.equal(0)
      expect(await usedBy(client)).to.equal(before)
    })
  }

  it('are not held up by one that has expired, which reverts at the expense of its profile', async () => {
    await chain.node.request('evm_setAutomine', false)
    const { timestamp } = await chain.node.request<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
    const end = Number(timestamp) + 30
    const hash = await bundle([
      { channel, validityTimestamps: validityWindow(0, end) },
      { by: other, channel },
    ])
    await chain.node.request('anvil_dropTransaction', hash)
    await chain.node.request('evm_setNextBlockTimestamp', end + 10)
    await mine()
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, 'mixed')
    expect(
      await statuses(hash, [
        [channel, client],
        [channel, other],
      ]),
    ).to.deep.equal(['reverted', 'succeeded'])
  })

  it('are given up together when all have expired, and bear alike what that costs', async () => {
    await chain.node.request('evm_setAutomine', false)
    const { timestamp } = await chain.node.request<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
    const end = Number(timestamp) + 30
    const validityTimestamps = validityWindow(0, end)
    const hash = await bundle([
      { channel, validityTimestamps },
      { by: other, channel, validityTimestamps },
      { channel: channel + 1n, validityTimestamps },
    ])
    await chain.node.request('anvil_dropTransaction', hash)
    await chain.node.request('evm_setNextBlockTimestamp', end + 10)
    await mine()
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, 'abandoned')
    const { calls = [] } = await statusOf(hash)
    expect(calls.map(({ charged }) => charged?.amount)).to.deep.equal([7_000, 7_000, 7_000])
    await becomes(await hashOf(client.execute({ channel })), 'succeeded')
  })

  it('are mined again after a reorganisation, each as it comes out then', async () => {
    const hash = await bundle([{ channel }, { by: other, channel }])
    await becomes(hash, 'succeeded')
    await chain.node.request('evm_setAutomine', false)
    await chain.node.request('anvil_reorg', 1, [])
    await becomes(hash, 'pending')
    expect((await statusOf(hash)).calls?.map(({ charged }) => charged)).to.deep.equal([null, null])
    await chain.node.request('evm_setAutomine', true)
    await becomes(hash, 'succeeded')
    const { calls = [], transactionHash, gasUsed } = await statusOf(hash)
    expect(gasUsed).to.equal(await gasOf(transactionHash))
    expect(sum(calls.map((call) => call.gasUsed))).to.equal(gasUsed)
  })

  it('charge to the last unit what all receipts of the account say', async () => {
    await until(async () => (await server.services.relays.countSince(0)).pending === 0)
    const { charged } = await server.database.db
      .selectFrom('relays')
      .where('charged', 'is not', null)
      .select(({ fn }) => fn.sum<string>('charged').as('charged'))
      .executeTakeFirstOrThrow()
    const { rows } = { rows: await server.database.db.selectFrom('relays').select('mined_hash').distinct().execute() }
    const receipts = await Promise.all(rows.map(({ mined_hash }) => chain.receipt(mined_hash ?? `0x${'0'.repeat(64)}`)))
    expect(Number(charged)).to.equal(sum(receipts.map((receipt) => Number(receipt?.gasUsed ?? 0))))
  })
})

interface Outcome {
  readonly status: string
  readonly gasUsed: number | null
  readonly charged: { readonly amount: number; readonly unit: string } | null
}

interface Status extends Outcome {
  readonly transactionHash: string
  readonly attempts: readonly { readonly transactionHash: string }[]
  readonly calls?: readonly (Outcome & { readonly profile: string; readonly nonce: string })[]
}
