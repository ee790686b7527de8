import { expect } from 'chai'
import { hexlify, randomBytes, Wallet } from 'ethers'
import { keyManagerInterface, profileInterface, type Profile } from '../../../../contracts/deploy/profile.ts'
import { relayNonce, signRelayCall } from '../../../../contracts/lsp25.ts'
import { startNodeProxy, type NodeProxy } from '../../support/nodes.ts'
import { deployImpostor, impostorInterface } from '../../../../contracts/deploy/targets.ts'
import { callTarget, createRelayClient, type Answer } from '../../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

describe('who pays for a relay call', () => {
  let chain: RelayChain
  let server: RelayServer

  before(async () => {
    chain = await startRelayChain('hardhat', 3)
    // The other servers have ledgers of their own, so they send from other accounts.
    server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys.slice(2) })
  })
  after(async () => {
    await server.close()
    await chain.close()
  })

  const clientOf = (profile: Profile, { url } = server) =>
    createRelayClient({ url, chainId: chain.chainId, profile, controller: chain.controllers.full })
  const send = async (to: string, data: string) => chain.sender.mined(await chain.sender.send({ to, data }))
  const codeOf = ({ status, json }: Answer) => (status === 200 ? 'taken' : json.code)
  const impostorCalls = async ({ keyManager }: Profile) => {
    const data = impostorInterface.encodeFunctionData('calls')
    return Number(await chain.node.request<string>('eth_call', { to: keyManager, data }, 'latest'))
  }

  describe('a profile that has left a hostile key manager', () => {
    let profile: Profile
    let former: Profile

    /** Has the genuine key manager execute a payload. */
    async function relay({ keyManager }: Profile, id: bigint, payload: string): Promise<void> {
      const nonce = relayNonce(98n, id)
      const message = { keyManager, chainId: chain.chainId, nonce, payload }
      const signature = signRelayCall(message, chain.controllers.full.privateKey)
      await send(
        keyManager,
        keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, payload]),
      )
    }

    const accept = profileInterface.encodeFunctionData('acceptOwnership')
    const transferTo = (owner: string) => profileInterface.encodeFunctionData('transferOwnership', [owner])
    const forward = (to: string, data: string) => impostorInterface.encodeFunctionData('forward', [to, data])

    beforeEach(async () => {
      profile = await chain.anotherProfile()
      former = await deployImpostor(chain.sender, { address: profile.address })
      await relay(profile, 0n, transferTo(former.keyManager))
      await send(former.keyManager, forward(profile.address, accept))
      expect(codeOf(await clientOf(former).execute())).to.equal('taken')
      await send(former.keyManager, forward(profile.address, transferTo(profile.keyManager)))
      await relay(profile, 1n, accept)
    })

    it('does not pay for what that one executes', async () => {
      const before = await impostorCalls(former)
      expect(codeOf(await clientOf(former).execute({ channel: 1n }))).to.equal('INVALID_SIGNATURE')
      expect(codeOf(await clientOf(profile).execute({ channel: 1n }))).to.equal('taken')
      expect(await impostorCalls(former)).to.equal(before)
    })

    it('does not pay for calls among those of a profile that the hostile one controls', async () => {
      const own = await deployImpostor(chain.sender, { keyManager: former.keyManager })
      await send(former.keyManager, impostorInterface.encodeFunctionData('claim', [own.address]))
      // Both are known now, and calls that come together are tried together.
      expect(codeOf(await clientOf(own).execute())).to.equal('taken')
      const callers = [own, own, former, own, former, own, former].map((each) => clientOf(each))
      const answers = await Promise.all(callers.map((client, id) => client.execute({ channel: 2n, id: BigInt(id) })))
      expect([2, 4, 6].map((index) => codeOf(answers[index]!))).to.not.include('taken')
    })
  })

  /** A server of its own, in front of a node whose calls are counted. */
  async function withServer(
    config: Readonly<Record<string, unknown>>,
    work: (server: RelayServer, node: NodeProxy) => Promise<void>,
  ): Promise<void> {
    const node = await startNodeProxy(chain.node.rpcUrl)
    const chainConfig = { rpcUrls: [node.url], confirmations: 0, requestTimeoutMs: 30_000 }
    const own = await startRelayServer({
      rpcUrl: node.url,
      signerKeys: chain.signerKeys.slice(0, 2),
      config: { chain: chainConfig, ...config },
    })
    try {
      await work(own, node)
    } finally {
      await own.close()
      await node.close()
    }
  }
  const burn = (gas: bigint) => callTarget(chain.target, 'burnGas', [gas])
  const plan = (model: string, options: object) => ({ quota: { plans: { default: { model, options } } } })

  it('is capped where transactions are counted: one buys no more gas than the plan says', () =>
    withServer(plan('transaction-count', { transactionsPerPeriod: 10 }), async (own) => {
      const client = clientOf(chain.profile, own)
      const refused = await client.execute({ channel: 30n, payload: burn(1_000_000n) })
      expect(codeOf(refused)).to.equal('RELAY_CALL_REVERTS')
      expect(refused.json.details).to.deep.equal({ error: 'OutOfGas', gasCap: '1000000' })
      const { json } = await client.execute({ channel: 30n, payload: burn(700_000n) })
      const sent = await chain.node.request<{ gas: string }>('eth_getTransactionByHash', json.transactionHash)
      expect(Number(sent.gas)).to.be.within(700_000, 1_000_000)
    }))

  it('has what nested contracts keep back, also without padding', () =>
    withServer({ relay: { gasPaddingPercent: 0 } }, async (own) => {
      const client = clientOf(chain.profile, own)
      const muchData = profileInterface.encodeFunctionData('setData', [hexlify(randomBytes(32)), randomBytes(1024)])
      for (const [index, payload] of [muchData, burn(3_000_000n)].entries()) {
        const { json } = await client.execute({ channel: 31n, id: BigInt(index), payload })
        await until(async () => (await chain.receipt(json.transactionHash)) !== null)
        expect(await chain.receipt(json.transactionHash)).to.include({ status: '0x1' })
      }
    }))

  describe('that the ledger refuses', () => {
    it('costs the node no simulation when the profile is not registered', () =>
      withServer({ registration: 'registered' }, async (own, node) => {
        const client = clientOf(chain.profile, own)
        expect(codeOf(await client.execute({ channel: 31n }))).to.equal('PROFILE_NOT_REGISTERED')
        const before = node.calls.get('eth_call')
        expect(codeOf(await client.execute({ channel: 32n, payload: burn(9_000_000n) }))).to.equal(
          'PROFILE_NOT_REGISTERED',
        )
        expect(node.calls.get('eth_call')).to.equal(before)
      }))

    it('costs the node no more than the profile could pay for when its quota is nearly used up', () =>
      withServer(plan('gas', { gasPerPeriod: 250_000 }), async (own, node) => {
        const client = clientOf(chain.profile, own)
        expect(codeOf(await client.execute({ channel: 33n }))).to.equal('taken')
        const short = await client.execute({ channel: 34n, payload: burn(9_000_000n) })
        expect(codeOf(short)).to.equal('QUOTA_EXCEEDED')
        const stranger = createRelayClient({
          url: own.url,
          chainId: chain.chainId,
          profile: chain.profile,
          controller: Wallet.createRandom(),
        })
        expect(codeOf(await stranger.execute({ channel: 34n, payload: burn(9_000_000n) }))).to.equal(
          'INVALID_SIGNATURE',
        )
        expect(Number(short.headers.get('retry-after'))).to.be.greaterThan(0)
        await own.database.db.updateTable('profiles').set({ used: '249000' }).execute()
        expect(codeOf(await client.execute({ channel: 34n }))).to.equal('QUOTA_EXCEEDED')
        const before = node.calls.get('eth_call')
        expect(codeOf(await client.execute({ channel: 34n }))).to.equal('QUOTA_EXCEEDED')
        expect(node.calls.get('eth_call')).to.equal(before)
        const refused = await stranger.execute({ channel: 34n })
        expect(codeOf(refused), 'what is left is told to controllers alone').to.equal('INVALID_SIGNATURE')
        expect(refused.json.details).to.have.all.keys('signer')
      }))
  })

  describe('of profiles that nobody has registered', () => {
    const sybil = async () => {
      const keyManager = await deployImpostor(chain.sender)
      const profile = await deployImpostor(chain.sender, { keyManager: keyManager.keyManager })
      await send(keyManager.keyManager, impostorInterface.encodeFunctionData('claim', [profile.address]))
      return profile
    }

    it('is bounded for all together, and less for key managers of unknown code', () =>
      withServer({ unregistered: {} }, async (own, node) => {
        const both = await deployImpostor(chain.sender)
        expect(codeOf(await clientOf(both, own).execute())).to.equal('PROFILE_NOT_FOUND')
        const answers: Answer[] = []
        let gas = 0
        while (answers.at(-1)?.status !== 429 && answers.length < 30) {
          const answer = await clientOf(await sybil(), own).execute()
          answers.push(answer)
          if (answer.status !== 200) continue
          const { transactionHash } = answer.json
          const sent = await chain.node.request<{ gas: string }>('eth_getTransactionByHash', transactionHash)
          gas += Number(sent.gas)
        }
        expect(gas).to.be.within(800_000, 1_000_000)
        const refused = answers.at(-1)!
        expect(codeOf(refused)).to.equal('RATE_LIMITED')
        expect(refused.json.details?.['budgets']).to.deep.equal(['unknown/3600'])
        expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3_600)
        // A key manager that is known has a budget of its own.
        expect(codeOf(await clientOf(chain.profile, own).execute({ channel: 40n }))).to.equal('taken')
        const next = await sybil()
        await clientOf(next, own).execute()
        const before = node.calls.get('eth_call')
        expect(codeOf(await clientOf(next, own).execute())).to.equal('RATE_LIMITED')
        expect(node.calls.get('eth_call')).to.equal(before)
      }))

    it('is slowed when calls revert that had passed the simulation', () =>
      withServer({}, async (own) => {
        const hostile = await sybil()
        await send(hostile.keyManager, impostorInterface.encodeFunctionData('mislead', [true]))
        const client = clientOf(hostile, own)
        let refused: Answer | undefined
        for (let channel = 1n; channel < 8n && !refused; channel++) {
          const answer = await client.execute({ channel })
          const { transactionHash = '' } = answer.json
          if (answer.status !== 200) refused = answer
          else await until(async () => (await client.status(transactionHash)).json['status'] === 'reverted')
        }
        if (!refused) throw new Error('it is not slowed')
        expect(codeOf(refused)).to.equal('RATE_LIMITED')
        expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 8)
        expect(codeOf(await clientOf(chain.profile, own).execute({ channel: 41n }))).to.equal('taken')
      }))
  })
})
