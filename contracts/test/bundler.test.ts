import { expect } from 'chai'
import { concat, dataSlice, hexlify, Interface, toBeHex, Wallet, type TransactionReceipt } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import {
  bundlerInterface,
  bundleResults,
  decodeBundle,
  deployBundler,
  encodeBundle,
  type BundlerCall,
} from '../deploy/bundler.ts'
import { createSender, type Sender } from '../deploy/sender.ts'
import { relayNonce } from '../lsp25.ts'
import { openRelayWorld, setSomeData, type RelayWorld } from './relay-world.ts'

const hostileInterface = new Interface([
  'function look()',
  'function bomb(uint256 length)',
  'function flood(uint256 length)',
  'function burn()',
  'function invalid()',
  'function reenter(address bundler, bytes data, bool fails)',
  'function forge(bytes32 topic, bytes data)',
  'function lastSender() view returns (address)',
  'function lastOrigin() view returns (address)',
  'function lastGas() view returns (uint256)',
])
/** A limit that suffices for every relay call here. */
const RELAY_GAS = 400_000n

describe('Bundler', () => {
  let world: RelayWorld
  let sender: Sender
  let bundler: string
  let hostile: string
  let nextChannel = 1n

  before(async () => {
    world = await openRelayWorld()
    const [account] = await world.ethers.getSigners()
    sender = await createSender(account!)
    bundler = await deployBundler(sender)
    const created = sender.deploy((await loadArtifact('Hostile')).bytecode)
    await created.deployed
    hostile = created.address
  })

  const attack = (name: string, ...values: unknown[]): BundlerCall => ({
    to: hostile,
    gasLimit: 200_000n,
    data: hostileInterface.encodeFunctionData(name, values),
  })
  const read = async (name: string): Promise<unknown> => {
    const data = hostileInterface.encodeFunctionData(name)
    return hostileInterface.decodeFunctionResult(name, await sender.provider.call({ to: hostile, data }))[0]
  }
  const succeed = (value: bigint): BundlerCall => ({
    to: world.targetAddress,
    gasLimit: 100_000n,
    data: world.target.interface.encodeFunctionData('succeed', [value]),
  })
  const targetCalls = async () => (await world.target.getFunction('calls')()) as bigint

  /** Sends a bundle with gas for everything, or for less. A revert is no error. */
  async function send(data: string, gasLimit = 5_000_000n, to = bundler): Promise<TransactionReceipt> {
    const [account] = await world.ethers.getSigners()
    const { hash } = await account!.sendTransaction({ to, data, gasLimit })
    const receipt = await world.ethers.provider.getTransactionReceipt(hash)
    // The sender counts its own transactions only.
    sender = await createSender(account!)
    return receipt!
  }
  async function bundle(calls: readonly BundlerCall[], gasLimit?: bigint) {
    const receipt = await send(encodeBundle(calls), gasLimit)
    return { receipt, results: bundleResults(receipt, bundler) }
  }
  const successes = (results: ReturnType<typeof bundleResults>) => results?.map(({ success }) => success)

  it('has the interface that the code uses', async () => {
    const compiled = new Interface((await loadArtifact('Bundler')).abi)
    expect(compiled.format().toSorted()).to.deep.equal(bundlerInterface.format().toSorted())
  })

  it('takes no coin', async () => {
    const [account] = await world.ethers.getSigners()
    const { hash } = await account!.sendTransaction({
      to: bundler,
      data: encodeBundle([]),
      value: 1n,
      gasLimit: 100_000n,
    })
    const plain = await account!.sendTransaction({ to: bundler, value: 1n, gasLimit: 100_000n })
    sender = await createSender(account!)
    expect((await world.ethers.provider.getTransactionReceipt(hash))?.status).to.equal(0)
    expect((await world.ethers.provider.getTransactionReceipt(plain.hash))?.status).to.equal(0)
  })

  it('makes every call in order and tells what each has used', async () => {
    const before = await targetCalls()
    const { receipt, results } = await bundle([succeed(1n), succeed(2n), succeed(3n)])
    expect(receipt.status).to.equal(1)
    expect(successes(results)).to.deep.equal([true, true, true])
    expect(await targetCalls()).to.equal(before + 3n)
    expect(await world.target.getFunction('lastValue')()).to.equal(3n)
    for (const { gasUsed } of results!) expect(gasUsed > 2_000n && gasUsed < 100_000n, String(gasUsed)).to.equal(true)
    const measured = results!.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
    // What lies around: the transaction itself with its data, the event, and little for each call.
    expect(receipt.gasUsed - measured < 21_000n + 9_000n, `${receipt.gasUsed} ${measured}`).to.equal(true)
    expect(receipt.gasUsed > measured + 21_000n).to.equal(true)
  })

  it('is read as it is written', () => {
    const calls = [succeed(1n), { to: world.targetAddress, gasLimit: 7n, data: '0x' }, succeed(2n)]
    expect(decodeBundle(encodeBundle(calls))).to.deep.equal(calls)
    expect(decodeBundle('0x12345678')).to.equal(undefined)
  })

  it('does nothing for no calls', async () => {
    const { receipt, results } = await bundle([])
    expect(receipt.status).to.equal(1)
    expect(results).to.deep.equal([])
  })

  for (const [what, calls] of [
    [
      'reverts with more than anybody wants to copy',
      (): BundlerCall => ({ ...attack('bomb', 50_000n), gasLimit: 100_000n }),
    ],
    ['returns a lot', (): BundlerCall => ({ ...attack('flood', 50_000n), gasLimit: 100_000n })],
    ['uses up its gas', (): BundlerCall => attack('burn')],
    ['uses up its gas at once', (): BundlerCall => attack('invalid')],
    ['is to nobody', (): BundlerCall => ({ to: Wallet.createRandom().address, gasLimit: 50_000n, data: '0x' })],
  ] as const) {
    it(`costs its neighbours nothing: a call that ${what}`, async () => {
      const quiet = await bundle([succeed(1n), succeed(2n), succeed(3n)])
      const hostileCall = calls()
      const { receipt, results } = await bundle([succeed(1n), hostileCall, succeed(3n)])
      expect(receipt.status).to.equal(1)
      expect(results).to.have.length(3)
      for (const at of [0, 2]) {
        expect(results![at]!.success).to.equal(true)
        expect(Number(results![at]!.gasUsed)).to.be.closeTo(Number(quiet.results![at]!.gasUsed), 10)
      }
      // Its limit, the cost of a CALL to an address that nobody has touched, and the instructions of the measurement.
      expect(results![1]!.gasUsed <= hostileCall.gasLimit + 2_600n + 50n, String(results![1]!.gasUsed)).to.equal(true)
      const measured = results!.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
      expect(receipt.gasUsed - measured < 21_000n + 9_000n, `${receipt.gasUsed} ${measured}`).to.equal(true)
    })
  }

  it('gives a call the gas of its limit and no more', async () => {
    const { results } = await bundle([attack('look')])
    expect(successes(results)).to.deep.equal([true])
    const seen = (await read('lastGas')) as bigint
    expect(seen <= 200_000n && seen > 199_000n, String(seen)).to.equal(true)
  })

  it('starts no call with less gas than its limit: what is missing was not made', async () => {
    const before = await targetCalls()
    const first = { ...succeed(7n), gasLimit: 100_000n }
    const greedy = { ...succeed(8n), gasLimit: 1_000_000n }
    for (const gasLimit of [300_000n, 900_000n, 1_000_000n, 1_030_000n]) {
      const { receipt, results } = await bundle([first, greedy, succeed(9n)], gasLimit)
      expect(receipt.status, String(gasLimit)).to.equal(1)
      expect(successes(results), String(gasLimit)).to.deep.equal([true])
    }
    expect(await targetCalls()).to.equal(before + 4n)
    expect(successes((await bundle([first, greedy, succeed(9n)], 1_200_000n)).results)).to.deep.equal([
      true,
      true,
      true,
    ])
  })

  it('is seen as the sender, and the account as the origin', async () => {
    await bundle([attack('look')])
    expect(await read('lastSender')).to.equal(bundler)
    expect(await read('lastOrigin')).to.equal(sender.address)
  })

  describe('a call that re-enters', () => {
    for (const fails of [false, true]) {
      it(`cannot lie about its neighbours${fails ? ', also when it reverts after that' : ''}`, async () => {
        const forged = encodeBundle([attack('invalid'), attack('invalid'), attack('invalid')])
        const call = { ...attack('reenter', bundler, forged, fails), gasLimit: 900_000n }
        const { receipt, results } = await bundle([succeed(1n), call, succeed(2n)])
        const topic = bundlerInterface.getEvent('Bundled')!.topicHash
        const emitted = receipt.logs.filter(({ address, topics }) => address === bundler && topics[0] === topic)
        expect(emitted).to.have.length(fails ? 1 : 2)
        expect(successes(results)).to.deep.equal([true, !fails, true])
      })
    }

    it('cannot lie from another address', async () => {
      const topic = bundlerInterface.getEvent('Bundled')!.topicHash
      const forged = hexlify(new Uint8Array(96))
      const { results } = await bundle([succeed(1n), attack('forge', topic, forged)])
      expect(successes(results)).to.deep.equal([true, true])
    })
  })

  it('refuses what is cut off', async () => {
    const whole = bundlerInterface.decodeFunctionData('execute', encodeBundle([succeed(1n), succeed(2n)]))[0] as string
    const before = await targetCalls()
    for (const length of [1, 31, 32, 60, 70, 135]) {
      const data = bundlerInterface.encodeFunctionData('execute', [dataSlice(whole, 0, length)])
      expect((await send(data)).status, String(length)).to.equal(0)
    }
    const lying = concat([world.targetAddress, toBeHex(100_000n, 8), '0xffffffff', '0x1234'])
    expect((await send(bundlerInterface.encodeFunctionData('execute', [lying]))).status).to.equal(0)
    expect(await targetCalls()).to.equal(before)
  })

  describe('relay calls', () => {
    const relay = (nonce: bigint, payload = world.executeTarget('succeed', 5n)): BundlerCall => ({
      to: world.keyManagerAddress,
      gasLimit: RELAY_GAS,
      data: world.callData({ nonce, payload }),
    })

    it('are executed by the published key manager, whoever sends them', async () => {
      const channel = nextChannel++
      const { results } = await bundle([relay(relayNonce(channel, 0n)), relay(relayNonce(channel, 1n), setSomeData())])
      expect(successes(results)).to.deep.equal([true, true])
      expect(await world.nonceOf(world.controllers.full, channel)).to.equal(relayNonce(channel, 2n))
    })

    it('that fail leave nonces and neighbours as they are', async () => {
      const [good, bad] = [nextChannel++, nextChannel++]
      const { results } = await bundle([
        relay(relayNonce(good, 0n)),
        relay(relayNonce(bad, 0n), world.executeTarget('refuse', 1n)),
        relay(relayNonce(bad, 5n)),
        relay(relayNonce(good, 1n)),
      ])
      expect(successes(results)).to.deep.equal([true, false, false, true])
      expect(await world.nonceOf(world.controllers.full, good)).to.equal(relayNonce(good, 2n))
      expect(await world.nonceOf(world.controllers.full, bad)).to.equal(relayNonce(bad, 0n))
    })

    for (const [what, payloadOf, leastSaved] of [
      ['set data', () => setSomeData('0x0123456789abcdef'), 47],
      ['call a contract', () => world.executeTarget('succeed', 5n), 43],
    ] as const) {
      it(`that ${what} cost 29 % less on channels of their own, ten at a time, and ${leastSaved} % in one`, async () => {
        const alone = async ({ to, data }: BundlerCall) => (await send(data, RELAY_GAS, to)).gasUsed
        const each = async (calls: readonly BundlerCall[]) => {
          const { receipt, results } = await bundle(calls)
          expect(successes(results)).to.deep.equal(calls.map(() => true))
          return receipt.gasUsed / BigInt(calls.length)
        }
        const call = (channel: bigint, id: bigint) => relay(relayNonce(channel, id), payloadOf())
        // The first call of all fills slots that the others find filled.
        await alone(call(nextChannel++, 0n))
        const first = await alone(call(nextChannel++, 0n))
        const ownChannels = await each(Array.from({ length: 10 }, () => call(nextChannel++, 0n)))
        const channel = nextChannel++
        await alone(call(channel, 0n))
        const next = await alone(call(channel, 1n))
        const oneChannel = await each(Array.from({ length: 10 }, (_, at) => call(channel, BigInt(at) + 2n)))
        const saved = (before: bigint, after: bigint) => Number(((before - after) * 1000n) / before) / 10
        expect(saved(first, ownChannels), `${first} ${ownChannels}`).to.be.greaterThanOrEqual(29)
        expect(saved(next, oneChannel), `${next} ${oneChannel}`).to.be.greaterThanOrEqual(leastSaved)
      })
    }
  })
})
