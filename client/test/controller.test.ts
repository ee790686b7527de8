import { expect } from 'chai'
import { BrowserProvider, SigningKey, Wallet } from 'ethers'
import { createWalletClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { signerOf } from '../controller.ts'
import { isRelayError, type Controller, type Eip1193Provider } from '../index.ts'
import { startWorld, succeed, thrownBy, type World } from './support/world.ts'

describe('a controller', () => {
  let world: World
  let key: `0x${string}`
  before(async () => {
    world = await startWorld()
    key = world.fixture.controllers.full.privateKey as `0x${string}`
  })
  after(() => world?.close())

  /** A wallet in front of the node: it has the one account, and signs personal messages. */
  const wallet = (flags: object = {}): Eip1193Provider => ({
    ...flags,
    request: (call) =>
      call.method.endsWith('ccounts')
        ? Promise.resolve([world.fixture.controllers.full.address])
        : world.provider.request(call as { method: string; params: unknown[] }),
  })

  const kinds: readonly (readonly [string, () => Controller])[] = [
    ['a local account of viem', () => privateKeyToAccount(key)],
    ['a wallet of ethers', () => new Wallet(key)],
    ['a signing key of ethers', () => new SigningKey(key)],
    [
      'an object with signDigest',
      () => ({ address: new Wallet(key).address, signDigest: (digest) => new SigningKey(key).sign(digest).serialized }),
    ],
    [
      'a signer that writes v as 0 or 1',
      () => ({
        address: new Wallet(key).address,
        signDigest: async (digest) => {
          const { r, s, yParity } = new SigningKey(key).sign(digest)
          return `${r}${s.slice(2)}0${yParity}`
        },
      }),
    ],
  ]
  for (const [name, make] of kinds) {
    it(`may be ${name}`, async () => {
      const client = world.client({ controller: make() })
      const { transactionHash } = await client.execute(succeed(world.target))
      expect(await client.wait(transactionHash)).to.include({ status: 'executed' })
      expect(await client.quota()).to.include({ unit: 'gas' })
      // The key manager takes no other v.
      expect(await signerOf(make()).signDigest(`0x${'12'.repeat(32)}`)).to.match(/^0x[0-9a-f]{128}1[bc]$/)
    })
  }

  const wallets: readonly (readonly [string, string, () => Promise<Controller> | Controller])[] = [
    ['a wallet', 'the wallet MetaMask', () => wallet({ isMetaMask: true, isConnected: true })],
    [
      'a wallet that calls itself MetaMask as well',
      'the wallet Rabby',
      () => wallet({ isMetaMask: true, isRabby: true }),
    ],
    ['a wallet without a name', 'the wallet', () => wallet()],
    ['a signer of ethers in front of a wallet', 'the signer of 0x', () => new BrowserProvider(wallet()).getSigner()],
    ['a client of viem in front of a wallet', 'the wallet', () => createWalletClient({ transport: custom(wallet()) })],
  ]
  for (const [name, named, make] of wallets) {
    it(`may be ${name} for quota(), and is named when it cannot sign a relay call`, async () => {
      const client = world.client({ controller: await make() })
      expect(await client.quota()).to.include({ unit: 'gas' })
      const error = await thrownBy(client.execute(succeed(world.target)))
      if (!isRelayError(error, 'CANNOT_SIGN')) throw error as Error
      expect(error.details.controller).to.match(new RegExp(`^${named}`))
      expect(error.message).to.include('signDigest')
    })
  }

  it('that cannot sign a relay call sends a transaction, when it may', async () => {
    const node = wallet()
    const fallback = async (transaction: object) =>
      (await node.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
    const client = world.client({ controller: node, fallback })
    const { via, transactionHash } = await client.execute(succeed(world.target))
    expect(via).to.equal('transaction')
    expect(await client.wait(transactionHash)).to.include({ status: 'executed' })
  })

  it('that makes no signature is told so', async () => {
    const client = world.client({ controller: { address: new Wallet(key).address, signDigest: () => '0x12' } })
    expect(await thrownBy(client.execute(succeed(world.target)))).to.be.instanceOf(TypeError)
  })

  it('is no private key, and no error repeats one', () => {
    const make = (controller: unknown) => () => world.client({ controller: controller as never })
    for (const controller of [key, undefined]) {
      const words = `the controller is a value of type ${typeof controller}, and cannot sign: `
      expect(make(controller)).to.throw(TypeError, new RegExp(`^${words}[^0]*$`))
    }
    const misplaced = { address: key, signDigest: () => '0x' }
    expect(make(misplaced)).to.throw(TypeError, /^the controller's address is none[^0]*$/)
  })

  it('is no JSON-RPC account of viem, which signs nothing', () => {
    const account = { address: world.target, type: 'json-rpc' }
    expect(() => world.client({ controller: account as never })).to.throw(TypeError, 'of type json-rpc')
  })
})
