import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { BrowserProvider, Contract, parseEther } from 'ethers'
import { createPublicClient, createWalletClient, custom, parseAbi, type Hex } from 'viem'
import { hardhat } from 'viem/chains'
import { targetInterface } from '../../contracts/deploy/targets.ts'
import { createRelayProvider, isRelayError, type Eip1193Provider } from '../index.ts'
import { startFront, startWorld, succeed, thrownBy, type Fault, type World } from './support/world.ts'

const targetAbi = parseAbi([
  'function succeed(uint256 value) payable returns (uint256)',
  'function lastValue() view returns (uint256)',
])

describe('a relay provider', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world?.close())

  const provide = (options?: Parameters<World['client']>[0]) =>
    createRelayProvider(world.client(options), world.provider)
  const senderOf = async (hash: string) => {
    const transaction: unknown = await world.provider.request({
      method: 'eth_getTransactionByHash',
      params: [hash],
    })
    return (transaction as { to: string }).to
  }

  it('lets ethers send as the profile', async () => {
    const provider = new BrowserProvider(provide(), undefined, { cacheTimeout: -1 })
    const signer = await provider.getSigner()
    expect(signer.address).to.equal(world.fixture.profile.address)
    const before = await provider.getBalance(world.target)
    const sent = await signer.sendTransaction({ ...succeed(world.target, 5), value: parseEther('1') })
    expect(await sent.wait()).to.include({ status: 1 })
    expect((await provider.getBalance(world.target)) - before).to.equal(parseEther('1'))
    expect((await senderOf(sent.hash)).toLowerCase()).to.equal(world.fixture.profile.keyManager.toLowerCase())
    provider.destroy()
  })

  it('lets viem write as the profile', async () => {
    const transport = custom(provide())
    const wallet = createWalletClient({ chain: hardhat, transport })
    const reader = createPublicClient({ chain: hardhat, transport })
    const [account] = await wallet.requestAddresses()
    expect(account).to.equal(world.fixture.profile.address)
    const address = world.target as Hex
    const hash = await wallet.writeContract({
      account: account as Hex,
      address,
      abi: targetAbi,
      functionName: 'succeed',
      args: [77n],
    })
    expect(await reader.waitForTransactionReceipt({ hash })).to.include({ status: 'success' })
    expect(await reader.readContract({ address, abi: targetAbi, functionName: 'lastValue' })).to.equal(77n)
  })

  describe('for what the profile does to itself', () => {
    const signatures = [
      'function setData(bytes32 key, bytes value)',
      'function getData(bytes32 key) view returns (bytes)',
    ] as const
    const abi = parseAbi(signatures)
    const key = (byte: string): Hex => `0x${byte.repeat(32)}`

    it('lets ethers estimate and send', async () => {
      const provider = new BrowserProvider(provide(), undefined, { cacheTimeout: -1 })
      const profile = new Contract(world.fixture.profile.address, signatures, await provider.getSigner())
      const sent = await profile.getFunction('setData').send(key('a1'), '0x01')
      expect(await sent.wait()).to.include({ status: 1 })
      expect(await profile.getFunction('getData').staticCall(key('a1'))).to.equal('0x01')
      provider.destroy()
    })

    it('lets viem simulate and write', async () => {
      const transport = custom(provide())
      const reader = createPublicClient({ chain: hardhat, transport })
      const wallet = createWalletClient({ chain: hardhat, transport })
      const account = world.fixture.profile.address as Hex
      const call = { account, address: account, abi, functionName: 'setData', args: [key('a2'), '0x02'] } as const
      const { request } = await reader.simulateContract(call)
      const hash = await wallet.writeContract(request)
      expect(await reader.waitForTransactionReceipt({ hash })).to.include({ status: 'success' })
      const read = { address: account, abi, functionName: 'getData', args: [key('a2')] } as const
      expect(await reader.readContract(read)).to.equal('0x02')
    })

    it('changes nothing else, and nothing where the sender or the target is another', async () => {
      const { address, keyManager } = world.fixture.profile
      const asked: unknown[] = []
      const behind: Eip1193Provider = {
        request: async ({ method, params }): Promise<unknown> => {
          asked.push(params)
          return world.provider.request({ method, params: params as unknown[] })
        },
      }
      const provider = createRelayProvider(world.client(), behind)
      const data = '0x8da5cb5b'
      const calls = [
        { to: address, data },
        { from: keyManager, to: address, data },
        { from: address, to: keyManager, data: '0x00' },
      ]
      for (const call of calls) {
        await provider.request({ method: 'eth_call', params: [call, 'latest'] }).catch(() => undefined)
      }
      expect(asked).to.deep.equal(calls.map((call) => [call, 'latest']))
      const own = { from: address.toLowerCase(), to: address, data }
      await provider.request({ method: 'eth_call', params: [own, 'earliest'] })
      expect(asked.at(-1)).to.deep.equal([{ ...own, from: keyManager.toLowerCase() }, 'earliest'])
    })
  })

  it('refuses once, and with the error of the relay', async () => {
    await using front = await startFront(world.relayUrl, () => undefined)
    const refused = {
      to: world.target as Hex,
      data: targetInterface.encodeFunctionData('refuse', [1]) as Hex,
      gas: 100_000n,
    }
    const wallet = createWalletClient({ chain: hardhat, transport: custom(provide({ relayUrl: front.url })) })
    const byViem = await thrownBy(wallet.sendTransaction({ ...refused, account: world.fixture.profile.address as Hex }))
    expect(front.requests).to.have.length(1)
    expect(relayErrorIn(byViem)).to.include({ code: 'RELAY_CALL_REVERTS', broadcast: false })
    const params = [{ ...refused, gas: undefined }]
    const error = await thrownBy(provide().request({ method: 'eth_sendTransaction', params }))
    expect(error).to.include({ code: -32003 }).and.have.nested.property('data.code', 'RELAY_CALL_REVERTS')
  })

  it('is asked once for a call whose answer is lost', async () => {
    const fault: Fault = 'cut before'
    await using front = await startFront(world.relayUrl, () => fault)
    const provider = provide({ relayUrl: front.url, attempts: 1 })
    const wallet = createWalletClient({ chain: hardhat, transport: custom(provider) })
    const call = { ...succeed(world.target), to: world.target as Hex, data: succeed(world.target).data as Hex }
    const error = await thrownBy(wallet.sendTransaction({ ...call, account: world.fixture.profile.address as Hex }))
    expect(relayErrorIn(error)).to.include({ code: 'ANSWER_LOST' })
    expect(front.requests).to.have.length(1)
  })

  it('leaves everything else to the other provider', async () => {
    const from = world.fixture.funder?.address
    const seen: string[] = []
    class Wallet {
      readonly isMetaMask = true
      readonly #name = 'other'
      request(call: { method: string; params?: unknown }): Promise<unknown> {
        seen.push(call.method)
        return world.provider.request(call as { method: string; params: unknown[] })
      }
      on(event: string): unknown {
        return `${this.#name} ${event}`
      }
    }
    const provider = createRelayProvider(world.client(), Object.freeze(new Wallet()))
    expect(await provider.request({ method: 'eth_chainId' })).to.equal('0x7a69')
    const params = [{ from, to: world.target, value: '0x1' }]
    expect(await provider.request({ method: 'eth_sendTransaction', params })).to.match(/^0x/)
    expect(seen).to.deep.equal(['eth_chainId', 'eth_sendTransaction'])
    expect(provider.on('chainChanged')).to.equal('other chainChanged')
    expect(provider.isMetaMask).to.equal(true)
    expect('on' in provider).to.equal(true)
  })

  it('tells nobody of other accounts of the other provider', () => {
    const wallet = Object.assign(new EventEmitter(), world.provider)
    const provider = createRelayProvider(world.client(), wallet)
    const heard: string[] = []
    for (const listen of ['on', 'once', 'addListener'] as const) {
      const listened = provider[listen]('accountsChanged', () => heard.push('accountsChanged'))
      expect(listened).to.equal(provider)
      provider[listen]('chainChanged', () => heard.push(listen))
    }
    wallet.emit('accountsChanged', ['0x'])
    wallet.emit('chainChanged', '0x1')
    expect(heard).to.deep.equal(['on', 'once', 'addListener'])
  })
})

/** The error of the relay among what other errors name as their cause. */
function relayErrorIn(error: unknown): unknown {
  for (let one = error; one instanceof Error; one = one.cause) if (isRelayError(one)) return one
  return undefined
}
