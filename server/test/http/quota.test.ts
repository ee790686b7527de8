import { expect } from 'chai'
import { AbiCoder, getBytes, keccak256, solidityPacked, Wallet } from 'ethers'
import { signQuota } from '../../../contracts/lsp25.ts'
import { createRegistrations } from '../../services/ledger/accounts.ts'
import { postBothWays, createRelayClient, type Answer, type RelayClient } from '../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../support/relay-server.ts'
import { until } from '../support/until.ts'

describe('POST /quota', () => {
  let chain: RelayChain
  /** Shifts the server's time, or stops it. */
  let shiftMs = 0
  let stoppedAtMs: number | undefined
  const clock = { nowMs: () => (stoppedAtMs ?? Date.now()) + shiftMs, monotonicMs: () => performance.now() }

  before(async () => {
    chain = await startRelayChain('hardhat', 1)
  })
  beforeEach(() => {
    shiftMs = 0
    stoppedAtMs = undefined
  })
  after(() => chain.close())

  const now = () => Math.floor(clock.nowMs() / 1000)
  const serve = (config: Record<string, unknown> = {}) =>
    startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys, clock, config })
  const plan = (model: string, options: Record<string, unknown>) => ({
    quota: { plans: { default: { model, options } } },
  })
  const isSettled = (server: RelayServer) =>
    until(async () => (await server.services.relays.countSince(0)).pending === 0)
  const expectRefused = ({ status, json }: Answer, wantedStatus: number, code: string) => {
    expect(status, JSON.stringify(json)).to.equal(wantedStatus)
    expect(json.code).to.equal(code)
    expect(json.broadcast).to.equal(false)
  }

  describe('who may ask', () => {
    let server: RelayServer
    let client: RelayClient

    before(async () => {
      server = await serve()
      client = chain.client(server.url)
    })
    after(() => server.close())

    it('tells a controller that may sign what is left', async () => {
      const { status, json } = await client.quota()
      expect(status).to.equal(200)
      expect(json).to.deep.include({ quota: 20_000_000, totalQuota: 20_000_000, unit: 'gas' })
      const reset = new Date(Number(json['resetDate']) * 1000)
      expect([reset.getUTCDate(), reset.getUTCHours(), reset.getUTCMinutes()]).to.deep.equal([1, 0, 0])
      expect(reset.getTime()).to.be.greaterThan(Date.now())
    })

    it('refuses a controller without the permission SIGN, and a stranger', async () => {
      expectRefused(await client.quota(chain.controllers.noSign), 401, 'INVALID_SIGNATURE')
      expectRefused(await client.quota(Wallet.createRandom()), 401, 'INVALID_SIGNATURE')
    })

    it('takes the text of LUKSO’s page where the configuration says so, from those who may ask alone', async () => {
      const lenient = await serve({ quota: { acceptedMessages: ['hash', 'text'] } })
      try {
        const ask = async ({ privateKey }: { privateKey: string }, spell = (address: string) => address) => {
          const [address, timestamp] = [spell(chain.profile.address), now()]
          const signature = await new Wallet(privateKey).signMessage(`${address}:${timestamp}`)
          const { status } = await postBothWays(`${lenient.url}/quota`, { address, timestamp, signature })
          return status
        }
        const { full, noSign } = chain.controllers
        expect(await ask(full)).to.equal(200)
        expect(await ask(full, (address) => address.toLowerCase())).to.equal(200)
        expect(await ask(noSign)).to.equal(401)
        expect(await ask(Wallet.createRandom())).to.equal(401)
        expect((await chain.client(lenient.url).quota()).status).to.equal(200)
      } finally {
        await lenient.close()
      }
    })

    describe('names a usual mistake in signing', () => {
      const ask = async ({
        address,
        timestamp,
        signature,
      }: Record<'address' | 'signature', string> & { timestamp: number }) => {
        const { status, text } = await postBothWays(`${server.url}/quota`, { address, timestamp, signature })
        return { status, json: JSON.parse(text) as Answer['json'] } as Answer
      }
      const packed = (address: string, timestamp: number) =>
        solidityPacked(['address', 'uint256'], [address, timestamp])
      const cases: Readonly<
        Record<string, (key: Wallet, address: string, timestamp: number) => Promise<string> | string>
      > = {
        'the text "<address>:<timestamp>" was signed': (key, address, timestamp) =>
          key.signMessage(`${address}:${timestamp}`),
        'the hash was signed raw': (key, address, timestamp) =>
          key.signingKey.sign(keccak256(packed(address, timestamp))).serialized,
        'the text of its hex digits, instead': (key, address, timestamp) =>
          key.signMessage(keccak256(packed(address, timestamp))),
        'the text of its hex digits without 0x': (key, address, timestamp) =>
          key.signMessage(keccak256(packed(address, timestamp)).slice(2)),
        'the packed bytes themselves were signed': (key, address, timestamp) =>
          key.signMessage(getBytes(packed(address, timestamp))),
        'encoded by abi.encode': (key, address, timestamp) =>
          key.signMessage(
            getBytes(keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [address, timestamp]))),
          ),
        'typed data (EIP-712) were signed': (key, address, timestamp) =>
          key.signTypedData(
            { chainId: chain.chainId, verifyingContract: address },
            {
              Quota: [
                { name: 'address', type: 'address' },
                { name: 'timestamp', type: 'uint256' },
              ],
            },
            { address, timestamp },
          ),
        'has the address of the controller: it must have that of the profile': (key, _address, timestamp) =>
          key.signMessage(getBytes(keccak256(packed(key.address, timestamp)))),
        'signed in milliseconds and sent in seconds': (key, address, timestamp) =>
          key.signMessage(getBytes(keccak256(packed(address, timestamp * 1000)))),
      }
      for (const [words, sign] of Object.entries(cases)) {
        it(words, async () => {
          const { full } = chain.controllers
          const [address, timestamp] = [chain.profile.address, now()]
          const signature = await sign(new Wallet(full.privateKey), address, timestamp)
          const answer = await ask({ address, timestamp, signature })
          expectRefused(answer, 401, 'INVALID_SIGNATURE')
          expect(answer.json.message).to.include(words)
          expect(answer.json['details']).to.include({ controller: full.address })
        })
      }

      it('the address is that of the signer', async () => {
        const { full } = chain.controllers
        const timestamp = now()
        const message = { address: full.address, timestampSeconds: timestamp }
        const answer = await ask({ ...full, timestamp, signature: signQuota(message, full.privateKey) })
        expectRefused(answer, 404, 'PROFILE_NOT_FOUND')
        expect(answer.json.message).to.include('it must be that of the profile')
      })

      it('and none of a stranger', async () => {
        const { json } = await client.quota(Wallet.createRandom())
        expect(json['details']).to.not.have.any.keys('likelyMistake', 'controller')
      })
    })

    for (const [offset, isServed] of [
      [-5, true],
      [5, true],
      [-6, false],
      [6, false],
      [-30, false],
    ] as const) {
      it(`${isServed ? 'serves' : 'refuses'} a timestamp ${offset} seconds away`, async () => {
        stoppedAtMs = Date.now()
        const answer = await client.quota(chain.controllers.full, now() + offset)
        if (isServed) expect(answer.status).to.equal(200)
        else expectRefused(answer, 401, 'STALE_TIMESTAMP')
      })
    }

    it('says so when a timestamp is in milliseconds', async () => {
      const answer = await client.quota(chain.controllers.full, Date.now())
      expectRefused(answer, 401, 'STALE_TIMESTAMP')
      expect(answer.json.message).to.include('milliseconds')
    })

    it('refuses a signature over another address or time', async () => {
      const { privateKey } = chain.controllers.full
      const { address } = chain.profile
      const timestamp = now()
      const post = async (signature: string) => {
        const response = await fetch(`${server.url}/quota`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ address, timestamp, signature }),
        })
        return { status: response.status, headers: response.headers, json: (await response.json()) as Answer['json'] }
      }
      expect((await post(signQuota({ address, timestampSeconds: timestamp }, privateKey))).status).to.equal(200)
      expectRefused(
        await post(signQuota({ address: chain.target, timestampSeconds: timestamp }, privateKey)),
        401,
        'INVALID_SIGNATURE',
      )
      expectRefused(
        await post(signQuota({ address, timestampSeconds: timestamp - 1 }, privateKey)),
        401,
        'INVALID_SIGNATURE',
      )
      expectRefused(await post('0x1234'), 401, 'INVALID_SIGNATURE')
    })

    it('answers callers on another page, whom the app answers, alike', async () => {
      const { address } = chain.profile
      const timestamp = now()
      const signature = signQuota({ address, timestampSeconds: timestamp }, chain.controllers.full.privateKey)
      for (const [said, status] of [
        [timestamp, 200],
        [timestamp - 60, 401],
      ] as const) {
        const answer = await postBothWays(`${server.url}/quota`, { address, timestamp: said, signature })
        expect(answer.status, answer.text).to.equal(status)
      }
    })

    it('knows an address without a profile', async () => {
      const { chainId, controllers } = chain
      const profile = { ...chain.profile, address: chain.target }
      const other = createRelayClient({ url: server.url, chainId, profile, controller: controllers.full })
      expectRefused(await other.quota(), 404, 'PROFILE_NOT_FOUND')
    })
  })

  describe('business models', () => {
    it('counts transactions, and gives them anew at the reset', async () => {
      const server = await serve(plan('transaction-count', { transactionsPerPeriod: 2, period: 'day' }))
      const client = chain.client(server.url)
      try {
        const first = await client.execute({ channel: 100n })
        expect(first.status, JSON.stringify(first.json)).to.equal(200)
        expect((await client.quota()).json).to.deep.include({ quota: 1, totalQuota: 2, unit: 'transactionCount' })
        expect((await client.execute({ channel: 101n })).status).to.equal(200)

        const before = await chain.node.request<string>('eth_getTransactionCount', chain.signers[0], 'latest')
        const refused = await client.execute({ channel: 102n })
        expectRefused(refused, 429, 'QUOTA_EXCEEDED')
        const { json: spent } = await client.quota()
        expect(spent).to.deep.include({ quota: 0, totalQuota: 2 })
        const wait = Number(refused.headers.get('retry-after'))
        expect(wait).to.be.within(1, 24 * 60 * 60)
        expect(await chain.node.request('eth_getTransactionCount', chain.signers[0], 'latest')).to.equal(before)

        shiftMs = wait * 1000 + 1000
        const { json: anew } = await client.quota(chain.controllers.full, now())
        expect(anew).to.deep.include({ quota: 2, totalQuota: 2 })
        expect(Number(anew['resetDate'])).to.equal(Number(spent['resetDate']) + 24 * 60 * 60)
        expect((await client.execute({ channel: 102n })).status).to.equal(200)
        expect((await client.quota(chain.controllers.full, now())).json).to.deep.include({ quota: 1, totalQuota: 2 })
      } finally {
        await server.close()
      }
    })

    it('charges native coin for the gas that was used', async () => {
      const server = await serve(plan('lyx', { weiPerPeriod: '1000000000000000000' }))
      const client = chain.client(server.url)
      try {
        const { json } = await client.execute({ channel: 110n })
        const reserved = (await client.quota()).json
        expect(Number(reserved['quota'])).to.be.lessThan(1)
        await isSettled(server)
        const receipt = await chain.receipt(json.transactionHash)
        const cost = BigInt(receipt?.gasUsed ?? 0) * BigInt(receipt?.effectiveGasPrice ?? 0)
        const { json: after } = await client.quota()
        expect(after).to.deep.include({ totalQuota: 1, unit: 'lyx' })
        // Rounded down to the gwei.
        expect(Math.round(Number(after['quota']) * 1e9)).to.equal(Number((10n ** 18n - cost) / 10n ** 9n))
        expect((await client.status(json.transactionHash ?? '')).json['charged']).to.deep.equal({
          amount: Number(cost / 10n ** 9n) / 1e9,
          unit: 'lyx',
        })
      } finally {
        await server.close()
      }
    })

    for (const [model, options, unit, channel] of [
      ['pay-as-you-go-gas', { initialGas: 5_000_000 }, 'gas', 120n],
      ['pay-as-you-go-lyx', { initialWei: '1000000000000000000' }, 'lyx', 121n],
      ['pay-as-you-go-transaction-count', { initialTransactions: 1 }, 'transactionCount', 122n],
    ] as const) {
      it(`shows neither total nor reset under ${model}`, async () => {
        const server = await serve(plan(model, options))
        const client = chain.client(server.url)
        try {
          expect((await client.execute({ channel })).status).to.equal(200)
          await isSettled(server)
          const { json } = await client.quota()
          expect(Object.keys(json).toSorted()).to.deep.equal(['quota', 'unit'])
          expect(json['unit']).to.equal(unit)
          expect(json['quota']).to.be.at.least(0)
          if (unit !== 'transactionCount') return
          const refused = await client.execute({ channel: 123n })
          expectRefused(refused, 429, 'QUOTA_EXCEEDED')
          // Nothing resets: there is no time to come back at.
          expect(refused.headers.get('retry-after')).to.equal(null)
        } finally {
          await server.close()
        }
      })
    }
  })

  it('tells each profile what its own plan has left, and charges it by that plan alone', async () => {
    const plans = {
      metered: { model: 'gas', options: { gasPerPeriod: 5_000_000 } },
      counted: { model: 'transaction-count', options: { transactionsPerPeriod: 3, period: 'day' } },
    }
    const server = await serve({ quota: { defaultPlan: 'metered', plans } })
    try {
      const counted = await chain.anotherProfile()
      const registrations = createRegistrations({ db: server.database.db, plans: server.plans, clock })
      await registrations.add(counted.address, 'counted')
      const { chainId, controllers } = chain
      const one = createRelayClient({ url: server.url, chainId, profile: counted, controller: controllers.full })
      const other = chain.client(server.url)
      const chargedFor = async (client: RelayClient, answer: Answer) =>
        (await client.status(answer.json.transactionHash ?? '')).json['charged']
      const [first, second] = [await one.execute({ channel: 124n }), await other.execute({ channel: 124n })]
      await isSettled(server)
      expect((await one.quota()).json).to.deep.include({ quota: 2, totalQuota: 3, unit: 'transactionCount' })
      expect(await chargedFor(one, first)).to.deep.equal({ amount: 1, unit: 'transactionCount' })
      const gasUsed = Number((await chain.receipt(second.json.transactionHash))?.gasUsed)
      expect(await chargedFor(other, second)).to.deep.equal({ amount: gasUsed, unit: 'gas' })
      const left = { quota: 5_000_000 - gasUsed, totalQuota: 5_000_000, unit: 'gas' }
      expect((await other.quota()).json).to.deep.include(left)
    } finally {
      await server.close()
    }
  })

  describe('registration', () => {
    it('serves registered profiles only, and none that is suspended', async () => {
      const server = await serve({ registration: 'registered' })
      const client = chain.client(server.url)
      const { db } = server.database
      const { plans } = server
      const registrations = createRegistrations({ db, plans, clock })
      const { address } = chain.profile
      try {
        expectRefused(await client.quota(), 403, 'PROFILE_NOT_REGISTERED')
        expectRefused(await client.execute({ channel: 130n }), 403, 'PROFILE_NOT_REGISTERED')
        await registrations.add(address)
        expect((await client.quota()).status).to.equal(200)
        const { json } = await client.execute({ channel: 130n })
        await registrations.suspend(address)
        expectRefused(await client.quota(), 403, 'PROFILE_NOT_REGISTERED')
        expectRefused(await client.execute({ channel: 130n, id: 1n }), 403, 'PROFILE_NOT_REGISTERED')
        // What was accepted stays accepted.
        expect((await client.execute({ channel: 130n })).json.transactionHash).to.equal(json.transactionHash)
        await registrations.resume(address)
        expect((await client.execute({ channel: 130n, id: 1n })).status).to.equal(200)
        await registrations.remove(address)
        expectRefused(await client.quota(), 403, 'PROFILE_NOT_REGISTERED')
      } finally {
        await server.close()
      }
    })
  })
})
