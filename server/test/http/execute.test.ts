import { expect } from 'chai'
import { Signature, Wallet } from 'ethers'
import { deployProfile, keyManagerInterface, profileInterface } from '../../../contracts/deploy/profile.ts'
import { targetInterface } from '../../../contracts/deploy/targets.ts'
import { relayCallDigest, relayNonce, signRelayCall, validityWindow } from '../../../contracts/lsp25.ts'
import type { Services } from '../../core/define.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { LoadedRelay } from '../../core/registry.ts'
import { lsp25Form, relayDigest, toHex, type RelayMessage } from '../../ethereum/signature.ts'
import { executeAnswers } from '../../http/execute.ts'
import type { Exchange } from '../../http/fast-lane.ts'
import { createRateLimits } from '../../services/rate-limits.ts'
import { incoming } from '../support/incoming.ts'
import { ownRegistry } from '../support/own-registry.ts'
import {
  postBothWays,
  callTarget,
  createRelayClient,
  sendWei,
  setSomeData,
  type Answer,
  type RelayClient,
} from '../support/relay-client.ts'
import { startRelayChain, type RelayChain } from '../support/relay-chain.ts'
import { startRelayServer, type RelayServer } from '../support/relay-server.ts'
import { until } from '../support/until.ts'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('POST /execute', () => {
  let chain: RelayChain
  let server: RelayServer
  let client: RelayClient
  let channel = 0n

  before(async () => {
    chain = await startRelayChain('hardhat', 3)
    server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys })
    client = chain.client(server.url)
  })
  beforeEach(() => channel++)
  afterEach(() => chain.node.request('evm_setAutomine', true))
  after(async () => {
    await server.close()
    await chain.close()
  })

  const expectRefused = ({ status, json }: Answer, wantedStatus: number, code: string) => {
    expect(status, JSON.stringify(json)).to.equal(wantedStatus)
    expect(json.code).to.equal(code)
    expect(json.broadcast).to.equal(false)
    expect(json.transactionHash).to.equal(undefined)
  }
  const accepted = ({ status, json }: Answer): string => {
    expect(status, JSON.stringify(json)).to.equal(200)
    return json.transactionHash ?? ''
  }
  const isMined = async (hash: string) => (await chain.receipt(hash))?.status === '0x1'
  const sentBySigners = async () => {
    const counts = chain.signers.map((signer) =>
      chain.node.request<string>('eth_getTransactionCount', signer, 'latest'),
    )
    return (await Promise.all(counts)).reduce((sum, count) => sum + Number(count), 0)
  }

  it('sends executeRelayCall to the key manager, with what was signed', async () => {
    const body = client.sign({ channel })
    const hash = accepted(await client.post(body))
    await until(() => isMined(hash))
    const sent = await chain.node.request<{ to: string; input: string }>('eth_getTransactionByHash', hash)
    expect(sent.to.toLowerCase()).to.equal(chain.profile.keyManager.toLowerCase())
    const [signature, nonce, validity, payload] = keyManagerInterface.decodeFunctionData(
      'executeRelayCall',
      sent.input,
    ) as unknown as [string, bigint, bigint, string]
    expect({ signature, nonce, validity, payload }).to.deep.equal({
      signature: body.transaction.signature,
      nonce: body.transaction.nonce,
      validity: 0n,
      payload: body.transaction.abi,
    })
  })

  it('mines fifty calls on fifty channels that come at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => client.execute({ channel: BigInt(1000 + at) })),
    )
    const hashes = answers.map(accepted)
    expect(new Set(hashes).size).to.equal(50)
    for (const hash of hashes) await until(() => isMined(hash))
  })

  it('answers callers on another page, whom the app answers, alike', async () => {
    const { address, transaction } = client.sign({ channel })
    const body = { address, transaction: { ...transaction, nonce: String(transaction.nonce) } }
    expect((await postBothWays(`${server.url}/execute`, body)).status).to.equal(200)
    expect((await postBothWays(`${server.url}/execute`, { address })).status).to.equal(400)
  })

  it('counts the calls of a profile that are its own, and refuses those beyond its limit', async () => {
    const chain = await startRelayChain('hardhat', 1)
    const { rpcUrl } = chain.node
    const limited = await startRelayServer({ rpcUrl, signerKeys: chain.signerKeys, relaysPerMinute: 2 })
    try {
      const client = chain.client(limited.url)
      const stranger = chain.client(limited.url, Wallet.createRandom())
      for (let strange = 0; strange < 3; strange++) {
        expect((await stranger.execute({ channel })).json.code).to.equal('INVALID_SIGNATURE')
      }
      const answer = await client.execute({ channel })
      accepted(answer)
      expect(answer.headers.get('ratelimit-remaining')).to.equal('1')
      // It took a simulation, too.
      const reverting = { channel, id: 1n, payload: sendWei(chain.signers[0] ?? '', 10n ** 30n) }
      expect((await client.execute(reverting)).json.code).to.equal('RELAY_CALL_REVERTS')
      const refused = await client.execute({ channel, id: 1n })
      expectRefused(refused, 429, 'RATE_LIMITED')
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60)
    } finally {
      await limited.close()
      await chain.close()
    }
  })

  describe('the same call again', () => {
    it('gets the same hash, in every spelling, also at once, and one transaction', async () => {
      const body = client.sign({ channel })
      const { signature, nonce } = body.transaction
      const { r, s, v, compactSerialized } = Signature.from(signature)
      const otherV = v === 27 ? '1c' : '1b'
      const highS = (CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')
      const transactions = [
        {},
        { signature: compactSerialized },
        { signature: `${signature.slice(0, -2)}${v === 27 ? '00' : '01'}` },
        { signature: `${r}${highS}${otherV}` },
        { signature: signature.toUpperCase().replace('0X', '0x') },
        { nonce: String(nonce) },
        { nonce: `0x${BigInt(nonce).toString(16)}` },
        { validityTimestamps: null },
        { validityTimestamps: '0x0' },
        { validityTimestamps: 0, value: '0x00' },
        { abi: body.transaction.abi.toUpperCase().replace('0X', '0x') },
      ]
      const before = await sentBySigners()
      const answers = await Promise.all([
        ...transactions.map((changed) => client.post({ ...body, transaction: { ...body.transaction, ...changed } })),
        client.post({ ...body, address: body.address.toLowerCase(), keyManagerAddress: chain.profile.keyManager }),
      ])
      const hashes = new Set(answers.map(accepted))
      expect(hashes.size).to.equal(1)
      const [hash = ''] = hashes
      await until(() => isMined(hash))
      expect(await sentBySigners()).to.equal(before + 1)
      expect(accepted(await client.post(body))).to.equal(hash)
      expect(await sentBySigners()).to.equal(before + 1)
    })

    it('gets the same hash when it had reverted on the chain', async () => {
      await chain.node.request('evm_setAutomine', false)
      const funds = BigInt(await chain.node.request<string>('eth_getBalance', chain.profile.address, 'latest'))
      const half = (funds * 7n) / 10n
      const first = client.sign({ channel, payload: sendWei(chain.signers[0] ?? '', half) })
      const second = client.sign({ channel: channel + 500n, payload: sendWei(chain.signers[0] ?? '', half) })
      const hashes = [accepted(await client.post(first)), accepted(await client.post(second))]
      await chain.node.request('evm_mine')
      const statuses = await Promise.all(hashes.map(async (hash) => (await chain.receipt(hash))?.status))
      expect(statuses.toSorted()).to.deep.equal(['0x0', '0x1'])
      const reverted = statuses.indexOf('0x0')
      expect(accepted(await client.post([first, second][reverted]))).to.equal(hashes[reverted])
    })

    it('gets the same hash when the profile has another key manager by then', async () => {
      const other = await chain.anotherProfile()
      const options = { url: server.url, chainId: chain.chainId, controller: chain.controllers.full }
      const body = createRelayClient({ ...options, profile: other }).sign({ channel })
      const hash = accepted(await client.post(body))
      await until(() => isMined(hash))
      const moved = await chain.moveToNewKeyManager(other)
      // The server notices the move by a call for the new key manager.
      accepted(await createRelayClient({ ...options, profile: moved }).execute({ channel }))
      const before = await sentBySigners()
      expect(accepted(await client.post(body))).to.equal(hash)
      expectRefused(
        await createRelayClient({ ...options, profile: other }).execute({ channel, id: 1n }),
        401,
        'INVALID_SIGNATURE',
      )
      expect(await sentBySigners()).to.equal(before)
    })
  })

  describe('channels', () => {
    it('takes the next nonces without waiting for blocks, in whatever order they come', async () => {
      await chain.node.request('evm_setAutomine', false)
      const ids = [3n, 0n, 2n, 5n, 1n, 4n]
      const answers = await Promise.all(
        ids.map((id) => client.execute({ channel, id, payload: callTarget(chain.target, 'succeed', [id + 1n]) })),
      )
      const hashes = answers.map(accepted)
      await chain.node.request('evm_mine')
      for (const hash of hashes) await until(() => isMined(hash))
      const data = targetInterface.encodeFunctionData('lastValue')
      // The last one in the order of the nonces.
      expect(BigInt(await chain.node.request<string>('eth_call', { to: chain.target, data }, 'latest'))).to.equal(6n)
    })

    it('simulates on top of what is pending', async () => {
      await chain.node.request('evm_setAutomine', false)
      const funds = BigInt(await chain.node.request<string>('eth_getBalance', chain.profile.address, 'latest'))
      const to = chain.signers[0] ?? ''
      const first = accepted(await client.execute({ channel, payload: sendWei(to, (funds * 7n) / 10n) }))
      const refused = await client.execute({ channel, id: 1n, payload: sendWei(to, (funds * 7n) / 10n) })
      expectRefused(refused, 422, 'RELAY_CALL_REVERTS')
      expect(refused.json.details?.['error']).to.equal('ERC725X_InsufficientBalance')
      const second = accepted(await client.execute({ channel, id: 1n, payload: sendWei(to, funds / 10n) }))
      await chain.node.request('evm_mine')
      for (const hash of [first, second]) await until(() => isMined(hash))
    })

    it('gives a call after others the gas that it needs alone', async () => {
      await chain.node.request('evm_setAutomine', false)
      // The first one sets the slots that the second one sets again: warm together, cold in transactions of their own.
      const keys = Array.from({ length: 12 }, (_, at) => `0x${(at + 1).toString(16).padStart(64, 'c')}`)
      const payload = (value: string) => setMany(keys, value)
      const hashes = [
        accepted(await client.execute({ channel, payload: payload('0x01') })),
        accepted(await client.execute({ channel, id: 1n, payload: payload('0x02') })),
      ]
      await chain.node.request('evm_mine')
      for (const hash of hashes) await until(() => isMined(hash))
    })

    it('refuses a nonce that lies ahead, and says which one is next', async () => {
      const { json } = await client.execute({ channel, id: 2n })
      expect(json.code).to.equal('NONCE_GAP')
      expect(json.details?.['expectedNonce']).to.equal(String(relayNonce(channel, 0n)))
    })

    it('refuses a nonce that is used', async () => {
      const hash = accepted(await client.execute({ channel }))
      await until(() => isMined(hash))
      const refused = await client.execute({ channel, payload: setSomeData('0x02') })
      expectRefused(refused, 409, 'NONCE_USED')
      expect(refused.json.details?.['expectedNonce']).to.equal(String(relayNonce(channel, 1n)))
    })

    it('refuses another payload under a nonce that is taken', async () => {
      await chain.node.request('evm_setAutomine', false)
      accepted(await client.execute({ channel }))
      expectRefused(await client.execute({ channel, payload: setSomeData('0x02') }), 409, 'NONCE_CONFLICT')
      const [one, other] = await Promise.all([
        client.execute({ channel: channel + 700n, payload: setSomeData('0x03') }),
        client.execute({ channel: channel + 700n, payload: setSomeData('0x04') }),
      ])
      expect([one.status, other.status].toSorted()).to.deep.equal([200, 409])
      await chain.node.request('evm_mine')
    })
  })

  describe('signatures', () => {
    it('refuses a stranger', async () => {
      expectRefused(await client.execute({ channel, signer: Wallet.createRandom() }), 401, 'INVALID_SIGNATURE')
    })

    for (const [mistake, change] of [
      ['another chain', { chainId: 42 }],
      ['no key manager', { keyManager: '0x0000000000000000000000000000000000000001' }],
    ] as const) {
      it(`refuses a message for ${mistake}`, async () => {
        const payload = setSomeData()
        const nonce = relayNonce(channel, 0n)
        const right = { keyManager: chain.profile.keyManager, chainId: chain.chainId }
        const message = { ...right, nonce, payload, ...change }
        const signature = signRelayCall(message, chain.controllers.full.privateKey)
        const refused = await client.post({
          address: chain.profile.address,
          transaction: { abi: payload, signature, nonce },
        })
        expectRefused(refused, 401, 'INVALID_SIGNATURE')
        if ('chainId' in change) expect(refused.json.details?.['likelyMistake']).to.include('chain 42')
      })
    }

    it('names a personal message for what it is', async () => {
      const body = client.sign({ channel })
      const digest = relayCallDigest({
        keyManager: chain.profile.keyManager,
        chainId: chain.chainId,
        nonce: BigInt(body.transaction.nonce),
        payload: body.transaction.abi,
      })
      const wallet = new Wallet(chain.controllers.full.privateKey)
      const signature = wallet.signMessageSync(Buffer.from(digest.slice(2), 'hex'))
      const refused = await client.post({ ...body, transaction: { ...body.transaction, signature } })
      expectRefused(refused, 401, 'INVALID_SIGNATURE')
      expect(refused.json.details?.['likelyMistake']).to.include('personal message')
      expect(refused.json.details?.['controller']).to.equal(wallet.address)
    })

    for (const [words, sign] of [
      ['the text of its hex digits', (key, digest) => key.signMessageSync(toHex(digest()))],
      [
        'for the address of the profile instead of that of its key manager',
        (key, digest) => key.signingKey.sign(digest({ keyManager: chain.profile.address })).serialized,
      ],
      [
        'a value (msgValue) of 3 wei instead of 0',
        (key, digest) => key.signingKey.sign(digest({ valueWei: 3n })).serialized,
      ],
    ] as readonly [string, (key: Wallet, digest: (change?: Partial<RelayMessage>) => Uint8Array) => string][]) {
      it(`names the mistake: ${words}`, async () => {
        const key = new Wallet(chain.controllers.full.privateKey)
        const payload = profileInterface.encodeFunctionData('execute', [0, Wallet.createRandom().address, 3n, '0x'])
        const message = {
          keyManager: chain.profile.keyManager,
          chainId: BigInt(chain.chainId),
          nonce: relayNonce(channel, 0n),
          validityTimestamps: 0n,
          payload,
        }
        const signature = sign(key, (change = {}) => relayDigest({ ...message, ...change }, lsp25Form))
        const transaction = { abi: payload, signature, nonce: message.nonce }
        const refused = await client.post({ address: chain.profile.address, transaction })
        expectRefused(refused, 401, 'INVALID_SIGNATURE')
        expect(refused.json.details?.['likelyMistake']).to.include(words)
        expect(refused.json.details?.['controller']).to.equal(key.address)
      })
    }

    it('refuses what is no signature', async () => {
      const body = client.sign({ channel })
      for (const signature of [
        '0x',
        `0x${'00'.repeat(65)}`,
        body.transaction.signature.slice(0, -4),
        `0x${'ff'.repeat(65)}`,
      ]) {
        const refused = await client.post({ ...body, transaction: { ...body.transaction, signature } })
        expectRefused(refused, 401, 'INVALID_SIGNATURE')
      }
    })
  })

  describe('what the key manager refuses', () => {
    it('refuses a controller that may not relay, and sends nothing', async () => {
      const before = await sentBySigners()
      const refused = await client.execute({ channel, signer: chain.controllers.noRelay })
      expectRefused(refused, 403, 'NOT_AUTHORISED')
      expect(refused.json.details?.['missingPermission']).to.equal('EXECUTE_RELAY_CALL')
      expect(await sentBySigners()).to.equal(before)
    })

    for (const [name, error, args] of [
      ['refuse', null, [7n]],
      ['refuseWithText', 'Error', ['because']],
      ['refuseSilently', 'Error', []],
    ] as const) {
      it(`decodes what ${name} reverts with`, async () => {
        const refused = await client.execute({ channel, payload: callTarget(chain.target, name, [...args]) })
        expectRefused(refused, 422, 'RELAY_CALL_REVERTS')
        expect(refused.json.details?.['error']).to.equal(error)
      })
    }

    it('refuses a call past its validity window, and before it', async () => {
      const over = await client.execute({ channel, validityTimestamps: validityWindow(1, 2) })
      expectRefused(over, 422, 'RELAY_CALL_REVERTS')
      expect(over.json.details?.['error']).to.equal('RelayCallExpired')
      const early = await client.execute({ channel, validityTimestamps: validityWindow(4_000_000_000, 4_000_000_001) })
      expect(early.json.details?.['error']).to.equal('RelayCallBeforeStartTime')
      accepted(await client.execute({ channel, validityTimestamps: validityWindow(1, 4_000_000_000) }))
    })

    it('refuses a call that burns more gas than the cap', async () => {
      const payload = callTarget(chain.target, 'burnGas', [12_000_000n])
      expectRefused(await client.execute({ channel, payload }), 422, 'RELAY_CALL_REVERTS')
    })

    it('refuses a call whose transaction nodes would refuse for its size, and sends nothing; takes one just below', async () => {
      const before = await sentBySigners()
      const withData = (bytes: number) =>
        profileInterface.encodeFunctionData('execute', [0, Wallet.createRandom().address, 0, `0x${'00'.repeat(bytes)}`])
      const refused = await client.execute({ channel, payload: withData(140_000) })
      expectRefused(refused, 413, 'PAYLOAD_TOO_LARGE')
      expect(refused.json.details?.['maxTransactionBytes']).to.equal(131_072)
      expect(await sentBySigners()).to.equal(before)
      const hash = accepted(await client.execute({ channel, payload: withData(130_000) }))
      await until(() => isMined(hash))
      const { input } = await chain.node.request<{ input: string }>('eth_getTransactionByHash', hash)
      expect(input.length / 2).to.be.within(130_000, 131_072)
    })

    it('relays a call that burns much gas', async () => {
      const payload = callTarget(chain.target, 'burnGas', [3_000_000n])
      const hash = accepted(await client.execute({ channel, payload }))
      await until(() => isMined(hash))
    })
  })

  describe('profiles', () => {
    it('knows an address without a profile', async () => {
      const body = client.sign({ channel })
      const address = Wallet.createRandom().address
      expectRefused(await client.post({ ...body, address }), 404, 'PROFILE_NOT_FOUND')
      expectRefused(await client.post({ ...body, address: chain.target }), 404, 'PROFILE_NOT_FOUND')
    })

    it('refuses a profile whose owner is no key manager', async () => {
      const { address } = await deployProfile(chain.sender)
      const body = client.sign({ channel })
      expectRefused(await client.post({ ...body, address }), 404, 'PROFILE_NOT_FOUND')
    })

    it('notices that the profile has another key manager', async () => {
      const other = await chain.anotherProfile()
      const options = { url: server.url, chainId: chain.chainId, controller: chain.controllers.full }
      accepted(await createRelayClient({ ...options, profile: other }).execute({ channel }))
      const moved = await chain.moveToNewKeyManager(other)
      const hash = accepted(await createRelayClient({ ...options, profile: moved }).execute({ channel }))
      await until(() => isMined(hash))
    })
  })

  describe('bodies', () => {
    const fields = ({ json }: Answer) =>
      (json.details?.['fields'] as { field: string }[] | undefined)?.map(({ field }) => field) ?? []

    it('names each field that is missing', async () => {
      const answer = await client.post({ transaction: {} })
      expectRefused(answer, 400, 'INVALID_REQUEST')
      expect(fields(answer)).to.include.members([
        'address',
        'transaction/abi',
        'transaction/signature',
        'transaction/nonce',
      ])
    })

    for (const [nonce, words] of [
      ['1e3', 'written in full'],
      ['1.0', 'written in full'],
      ['-1', 'an integer, a decimal string or 0x hex; this is -1'],
      ['-0', 'transaction/nonce'],
      ['1.7014118346046923e+39', 'loses digits, send it as a string'],
    ] as const) {
      it(`refuses the nonce ${nonce}`, async () => {
        const body = client.sign({ channel })
        const text = JSON.stringify({ ...body, transaction: { ...body.transaction, nonce: 0 } })
        const response = await fetch(`${server.url}/execute`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: text.replace('"nonce":0', `"nonce":${nonce}`),
        })
        const json = (await response.json()) as Answer['json']
        expectRefused({ status: response.status, headers: response.headers, json }, 400, 'INVALID_REQUEST')
        expect(json.message).to.include(words)
      })
    }

    for (const [name, change, words] of [
      [
        'an empty validity',
        { validityTimestamps: '' },
        'must be null, an integer, a decimal string or 0x hex; this is ""',
      ],
      ['a validity of 0x', { validityTimestamps: '0x' }, 'or 0x hex; this is "0x"'],
      [
        'a BigNumber',
        { nonce: { type: 'BigNumber', hex: '0x01' } },
        'this is a BigNumber of ethers v5: send what its toString()',
      ],
      ['a bigint as an object', { nonce: {} }, 'or 0x hex; this is an object'],
      ['a list', { nonce: [1] }, 'or 0x hex; this is a list'],
      ['a value', { value: '1' }, '0, since a relay sends no value'],
    ] as const) {
      it(`says of ${name} what is taken`, async () => {
        const body = client.sign({ channel })
        const answer = await client.post({ ...body, transaction: { ...body.transaction, ...change } })
        expectRefused(answer, 400, 'INVALID_REQUEST')
        expect(answer.json.message)
          .to.include(`transaction/${Object.keys(change)[0]}`)
          .and.include(words)
        expect(fields(answer)).to.deep.equal([`transaction/${Object.keys(change)[0]}`])
      })
    }

    it('says of the flat form and of a list of calls what belongs there', async () => {
      const { address, transaction } = client.sign({ channel })
      const flat = await client.post({ keyManagerAddress: address, payload: transaction.abi, ...transaction })
      expectRefused(flat, 400, 'INVALID_REQUEST')
      expect(fields(flat)).to.include.members(['address', 'transaction'])
      const list = await client.post([{ address, transaction }] as never)
      expectRefused(list, 400, 'INVALID_REQUEST')
      expect(list.json.message).to.include('must be object')
    })

    for (const [name, change] of [
      ['a nonce beyond 256 bits', { nonce: String(1n << 256n) }],
      ['a nonce that is no number', { nonce: 'one' }],
      ['a nonce that is a boolean', { nonce: true }],
      ['an odd number of digits', { abi: '0x7f23690' }],
      ['a payload without a selector', { abi: '0x7f2369' }],
      ['a value to be sent along', { value: '0x01' }],
      ['a validity that is a boolean', { validityTimestamps: false }],
    ] as const) {
      it(`refuses ${name}`, async () => {
        const body = client.sign({ channel })
        const answer = await client.post({ ...body, transaction: { ...body.transaction, ...change } })
        expectRefused(answer, 400, 'INVALID_REQUEST')
        expect(answer.json.message).to.include(`transaction/${Object.keys(change)[0]}`)
      })
    }
  })
})

describe('executeAnswers', () => {
  it('holds a request to the schema of the plugin that serves it, also where that is not the first of its path', async () => {
    const registry = await ownRegistry()
    const [first, second] = registry.relays as [LoadedRelay, LoadedRelay]
    const services = {
      profiles: {
        resolve: async (address: string) => ({
          address,
          keyManager: address,
          interfaceId: second.plugin.keyManagerInterfaceIds[0],
        }),
      },
      relays: { accepted: async () => [] },
      relayer: { chainId: 1n, submit: async () => ({ transactionHash: `0x${'5e'.repeat(32)}` }) },
    } as unknown as Services
    const rateLimits = await createRateLimits({ requestsPerMinute: 0, relaysPerMinute: 0 })
    const signature = Wallet.createRandom().signMessageSync('')
    const body = { address: `0x${'11'.repeat(20)}`, transaction: { abi: setSomeData(), signature, nonce: 0 } }
    const outcomeOf = (relays: readonly LoadedRelay[]) => {
      const limits = { bodyBytes: 10_000, nestingDepth: 8 }
      const answers = executeAnswers({ registry: { ...registry, relays }, services, limits, rateLimits })
      return answers
        .get('/execute')?.({ request: incoming(JSON.stringify(body)) } as Exchange)
        .then(
          () => 'accepted',
          (error: unknown) => (error as ServiceError).code,
        )
    }
    expect(await outcomeOf([first, second])).to.equal('accepted')
    const validateRequest = Object.assign(() => false, { errors: null }) as unknown as LoadedRelay['validateRequest']
    expect(await outcomeOf([first, { ...second, validateRequest }])).to.equal('INVALID_REQUEST')
  })
})

/** Sets the same value under many keys. */
function setMany(keys: string[], value: string): string {
  return profileInterface.encodeFunctionData('setDataBatch', [keys, keys.map(() => value)])
}
