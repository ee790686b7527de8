import { expect } from 'chai'
import { Contract, id } from 'ethers'
import { startChain, type RunningChain, connect, testSigner } from '../../chain.ts'
import { provisionFixture, type Fixture, type ProvisionOptions, type ProvisionState } from '../../deploy/fixture.ts'
import {
  permissionSets,
  permissionsKey,
  keyManagerInterface,
  profileInterface,
  controllerData,
} from '../../deploy/profile.ts'
import { seedLogs } from '../../deploy/seeds.ts'
import { createSender } from '../../deploy/sender.ts'

const INTERFACE_ID_LSP25 = '0x5ac79908'

describe('provisionFixture', () => {
  let chain: RunningChain
  let options: ProvisionOptions
  let fixture: Fixture

  before(async () => {
    chain = await startChain()
    options = {
      rpcUrl: chain.rpcUrl,
      relayUrl: 'http://relay.test',
      ethRpcBaseUrl: 'http://rpc.test',
      profileFundsWei: 10n ** 18n,
    }
    fixture = await provisionFixture(testSigner(chain), options)
  })

  after(() => chain.close())

  it('has the shape of the file', () => {
    expect(fixture).to.have.all.keys('chain', 'server', 'profile', 'controllers', 'logs', 'transactions')
    expect(fixture.chain).to.deep.equal({ rpcUrl: chain.rpcUrl, chainId: 31337 })
    expect(fixture.server).to.deep.equal({ relayUrl: 'http://relay.test', ethRpcBaseUrl: 'http://rpc.test' })
    expect(JSON.parse(JSON.stringify(fixture))).to.deep.equal(fixture)
  })

  it('leaves a profile that its key manager owns, and the key manager knows it', async () => {
    const profile = new Contract(fixture.profile.address, profileInterface, connect(chain))
    const keyManager = new Contract(fixture.profile.keyManager, keyManagerInterface, connect(chain))
    expect(await profile.getFunction('owner')()).to.equal(fixture.profile.keyManager)
    expect(await keyManager.getFunction('target')()).to.equal(fixture.profile.address)
    expect(await keyManager.getFunction('supportsInterface')(INTERFACE_ID_LSP25)).to.equal(true)
    expect(await connect(chain).getBalance(fixture.profile.address)).to.equal(10n ** 18n)
  })

  it('gives each controller its permissions and an unused first nonce', async () => {
    const profile = new Contract(fixture.profile.address, profileInterface, connect(chain))
    const keyManager = new Contract(fixture.profile.keyManager, keyManagerInterface, connect(chain))
    for (const name of ['full', 'noSign', 'noRelay'] as const) {
      const { address } = fixture.controllers[name]
      expect(BigInt((await profile.getFunction('getData')(permissionsKey(address))) as string), name).to.equal(
        permissionSets[name],
      )
      expect(await keyManager.getFunction('getNonce')(address, 0n), name).to.equal(0n)
    }
  })

  it('seeds 2,500 logs, more than 1,000 of them in one block, between the blocks it names', async () => {
    const { emitter, fromBlock, toBlock, count } = fixture.logs
    const inRange = await connect(chain).getLogs({ address: emitter, fromBlock, toBlock })
    const anywhere = await connect(chain).getLogs({ address: emitter, fromBlock: 0, toBlock: 'latest' })
    expect(inRange).to.have.length(count)
    expect(anywhere).to.have.length(count)
    expect(count).to.equal(2500)
    const perBlock = countBy(inRange, ({ blockNumber }) => blockNumber)
    expect(Math.max(...perBlock.values())).to.be.above(1000)
    expect(perBlock.size).to.be.above(10)
    expect([Math.min(...perBlock.keys()), Math.max(...perBlock.keys())]).to.deep.equal([fromBlock, toBlock])
  })

  it('has the first of these transactions share a block, and the node mine at once again', async () => {
    const { emitter, fromBlock } = fixture.logs
    const logs = await connect(chain).getLogs({ address: emitter, fromBlock, toBlock: fromBlock })
    expect(new Set(logs.map(({ transactionIndex }) => transactionIndex)).size).to.equal(5)
    expect(await chain.provider.request({ method: 'hardhat_getAutomine' })).to.equal(true)
  })

  it('leaves a node that mines by the clock as it is', async () => {
    await chain.provider.request({ method: 'evm_setAutomine', params: [false] })
    await chain.provider.request({ method: 'evm_setIntervalMining', params: [50] })
    try {
      const { count } = await seedLogs(await createSender(testSigner(chain, 2)))
      expect(count).to.equal(2500)
      expect(await chain.provider.request({ method: 'hardhat_getAutomine' })).to.equal(false)
    } finally {
      await chain.provider.request({ method: 'evm_setIntervalMining', params: [0] })
      await chain.provider.request({ method: 'evm_setAutomine', params: [true] })
    }
  })

  it('seeds logs that differ in every topic a filter can name', async () => {
    const { emitter, fromBlock, toBlock } = fixture.logs
    const logs = await connect(chain).getLogs({ address: emitter, fromBlock, toBlock })
    const kinds = countBy(logs, ({ topics }) => topics[0])
    expect(kinds.get(id('Even(uint256,uint256,address,bytes32)'))).to.equal(1250)
    expect(kinds.get(id('Odd(uint256,uint256,address,bytes32)'))).to.equal(1250)
    expect(new Set(logs.map(({ topics }) => topics[1])).size).to.equal(2500)
    expect([...countBy(logs, ({ topics }) => topics[2]).values()]).to.deep.equal(Array<number>(10).fill(250))
  })

  it('seeds logs of two contracts: some with long data, then in turn in one block, with large indexes', async () => {
    const { paired } = fixture.logs
    if (!paired) throw new Error('the fixture names no pair')
    const { emitters, fromBlock, toBlock, count } = paired
    const logs = await connect(chain).getLogs({ address: [...emitters], fromBlock: 0, toBlock: 'latest' })
    expect(logs).to.have.length(count)
    expect(count).to.be.above(1000)
    expect([...countBy(logs, ({ blockNumber }) => blockNumber)]).to.deep.equal([
      [fromBlock, 4],
      [toBlock, count - 4],
    ])
    const turns = logs.filter(({ address }, index) => address !== logs[index - 1]?.address).length
    expect(turns).to.be.above(100)
    expect(Math.max(...logs.map(({ index }) => index))).to.be.above(4096)
    for (const address of emitters) {
      const longest = Math.max(...logs.filter((log) => log.address === address).map(({ data }) => data.length))
      expect(longest).to.be.above(2 + 2 * 3000)
    }
  })

  it('names a transaction of each kind', async () => {
    const provider = connect(chain)
    const { legacy, accessList, dynamicFee, reverted, creation, largeValue } = fixture.transactions
    const types = await Promise.all([legacy, accessList, dynamicFee].map((hash) => provider.getTransaction(hash ?? '')))
    expect(types.map((transaction) => transaction?.type)).to.deep.equal([0, 1, 2])
    expect(types[1]?.accessList).to.have.length(1)
    expect((await provider.getTransactionReceipt(reverted ?? ''))?.status).to.equal(0)
    expect((await provider.getTransactionReceipt(creation ?? ''))?.contractAddress).to.match(/^0x/)
    expect((await provider.getTransaction(creation ?? ''))?.data.length).to.be.above(2 + 2 * 1024)
    const value = (await provider.getTransaction(largeValue ?? ''))?.value ?? 0n
    expect(BigInt(Number(value))).not.to.equal(value)
  })

  it('names each step, and goes on from where a run was broken off', async () => {
    const state: ProvisionState = {}
    const broken = new Error('broken off')
    const done: string[] = []
    const onProgress = (step: string): void => {
      done.push(step)
      if (step.startsWith('controllers')) throw broken
    }
    const failure = await provisionFixture(testSigner(chain, 1), { ...options, state, onProgress }).catch(
      (error: unknown) => error,
    )
    expect(failure).to.equal(broken)
    const kept = structuredClone(state)
    const { logs } = kept
    expect(kept).to.include.keys('chainId', 'deployer', 'controllers', 'deployed', 'logs')
    expect(kept).not.to.include.keys('profile')

    const resumed = await provisionFixture(testSigner(chain, 1), { ...options, state: kept })
    expect(resumed.profile).to.deep.equal(kept.deployed)
    expect(resumed.controllers).to.deep.equal(kept.controllers)
    expect(resumed.logs).to.deep.equal(logs)
    const profile = new Contract(resumed.profile.address, profileInterface, connect(chain))
    expect(await profile.getFunction('owner')()).to.equal(resumed.profile.keyManager)
  })

  it('does not go on with what belongs to another chain or another signer', async () => {
    for (const state of [{ chainId: 1 }, { deployer: chain.accounts[5]!.address }]) {
      const failure = await provisionFixture(testSigner(chain), { ...options, state }).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(Error).with.property('message').that.includes('belongs to')
    }
  })
})

function countBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return counts
}

describe('permissions', () => {
  it('full is every permission, also those that ALL_PERMISSIONS of LSP6 leaves out', () => {
    expect(permissionSets.full).to.equal(0x7fffffn)
  })

  it('the others lack one', () => {
    expect(permissionSets.full ^ permissionSets.noSign).to.equal(0x200000n)
    expect(permissionSets.full ^ permissionSets.noRelay).to.equal(0x400000n)
  })

  it('writes the data keys of LSP6', () => {
    const one = '0x' + '11'.repeat(20)
    const two = '0x' + '22'.repeat(20)
    expect(permissionsKey(one)).to.equal('0x4b80742de2bf82acb3630000' + '11'.repeat(20))
    expect(
      controllerData([
        { address: one, permissions: 1n },
        { address: two, permissions: 0x7fffffn },
      ]),
    ).to.deep.equal({
      keys: [
        '0xdf30dba06db6a30e65354d9a64c609861f089545ca58c6b4dbe31a5f338cb0e3',
        '0xdf30dba06db6a30e65354d9a64c60986' + '00'.repeat(16),
        '0x4b80742de2bf82acb3630000' + '11'.repeat(20),
        '0xdf30dba06db6a30e65354d9a64c60986' + '00'.repeat(15) + '01',
        '0x4b80742de2bf82acb3630000' + '22'.repeat(20),
      ],
      values: [
        '0x' + '00'.repeat(15) + '02',
        one,
        '0x' + '00'.repeat(31) + '01',
        two,
        '0x' + '00'.repeat(29) + '7fffff',
      ],
    })
  })
})
