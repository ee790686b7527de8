import { expect } from 'chai'
import { isRelayError } from '../../../client/index.ts'
import { permissionSets } from '../../../contracts/deploy/profile.ts'
import { startTestbed, type Testbed } from '../../library/index.ts'

const to = `0x${'77'.repeat(20)}`
const call = { to, data: '0x', value: 1n } as const

describe('touchstone/testbed', () => {
  let testbed: Testbed
  before(async () => {
    testbed = await startTestbed({ config: { log: { level: 'silent' } } })
  })
  after(() => testbed.close())

  const ask = async <Result>(method: string, ...params: unknown[]) =>
    (await testbed.provider.request({ method, params })) as Result
  const head = async () => Number(await ask<string>('eth_blockNumber'))
  const hashOf = async (block: number) =>
    (await ask<{ hash: string }>('eth_getBlockByNumber', `0x${block.toString(16)}`, false)).hash
  const balance = async () => BigInt(await ask<string>('eth_getBalance', to, 'latest'))
  const code = (code: 'UPSTREAM_UNAVAILABLE' | 'NOT_AUTHORISED') => (error: unknown) => isRelayError(error, code)

  for (const [name, runner] of [
    ['Uint8Array', 'jsdom'],
    ['Error', 'Jest'],
  ] as const) {
    it(`says what to do where a test runner has another ${name} in place of Node’s, as ${runner} does`, async () => {
      const nodes = globalThis[name]
      Object.assign(globalThis, { [name]: class extends nodes {} })
      try {
        const error = await startTestbed().catch((error: unknown) => error)
        expect(String(error)).to.match(/^TypeError: .* Jest and jsdom .*globalSetup.* @vitest-environment node$/)
      } finally {
        Object.assign(globalThis, { [name]: nodes })
      }
    })
  }

  it('relays a call of its client, in five lines', async () => {
    const before = await balance()
    const { transactionHash } = await testbed.client.execute(call)
    expect(await testbed.client.wait(transactionHash)).to.include({ status: 'executed' })
    expect(await balance()).to.equal(before + 1n)
  })

  it('serves its chain to pages of any origin, and hands on what the node refuses', async () => {
    const headers = { 'content-type': 'application/json', origin: 'http://dapp.example' }
    const preflight = await fetch(testbed.rpcUrl, { method: 'OPTIONS', headers })
    expect(preflight.headers.get('access-control-allow-headers')).to.equal('*')
    for (const body of ['{', 'null', '[]']) {
      const answer = await fetch(testbed.rpcUrl, { method: 'POST', headers, body })
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*')
      expect(await answer.text(), body).to.match(/"error"|^\[\]$/)
    }
  })

  it('makes blocks, at once and by the clock', async () => {
    const before = await head()
    await testbed.mine(3)
    expect(await head()).to.equal(before + 3)
    await testbed.setBlockTime(0.1)
    const { transactionHash } = await testbed.client.execute(call)
    expect(await testbed.client.wait(transactionHash)).to.include({ status: 'executed' })
    await testbed.setBlockTime(null)
  })

  it('replaces three blocks, and the relay sends again what was in them', async () => {
    const before = await balance()
    const hashes = []
    for (let index = 0; index < 3; index++) hashes.push((await testbed.client.execute(call)).transactionHash)
    for (const hash of hashes) await testbed.client.wait(hash)
    const last = await head()
    const blocks = await Promise.all([0, 1, 2].map((back) => hashOf(last - back)))
    const below = await hashOf(last - 3)
    await testbed.reorg(3)
    expect(await head()).to.equal(last + 1)
    for (const [back, hash] of blocks.entries()) expect(await hashOf(last - back)).to.not.equal(hash)
    expect(await hashOf(last - 3)).to.equal(below)
    for (const hash of hashes) expect(await testbed.client.wait(hash)).to.include({ status: 'executed' })
    expect(await balance()).to.equal(before + 3n)
    const error = await testbed.reorg(10_000).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(RangeError)
  })

  it('drops what waits to be mined, and the relay sends it again', async () => {
    await testbed.setBlockTime(3600)
    const { transactionHash } = await testbed.client.execute(call)
    expect(await testbed.dropTransactions()).to.deep.equal([transactionHash])
    expect(await ask('eth_getTransactionByHash', transactionHash)).to.equal(null)
    await testbed.setBlockTime(0.2)
    expect(await testbed.client.wait(transactionHash)).to.include({ status: 'executed' })
    await testbed.setBlockTime(null)
  })

  it('spikes fees', async () => {
    const fee = async () =>
      BigInt((await ask<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false)).baseFeePerGas)
    const before = await fee()
    await testbed.spikeFees(3)
    await testbed.mine()
    expect(await fee()).to.equal(before * 3n)
  })

  it('breaks the node of the relay, and mends it', async () => {
    const mend = await testbed.breakNode('nonsense')
    const response = await fetch(`${testbed.relayUrl}/readyz`)
    expect(response.status).to.equal(503)
    await mend()
    await testbed.client.wait((await testbed.client.execute(call)).transactionHash)
  })

  it('stops the relay and starts it again, with the same ledger', async () => {
    const { transactionHash } = await testbed.client.execute(call)
    await testbed.stopRelay()
    expect(await fetch(testbed.relayUrl).catch(() => 'gone')).to.equal('gone')
    await testbed.startRelay()
    expect(await testbed.client.wait(transactionHash)).to.include({ status: 'executed' })
    const error = await testbed.killRelay().catch((thrown: unknown) => thrown)
    expect(String(error)).to.include('{ process: true }')
  })

  it('makes profiles with the permissions that a test needs', async () => {
    const full = await testbed.profile()
    const none = await testbed.profile({ permissions: permissionSets.noRelay })
    expect(full.address).to.not.equal(none.address)
    await full.client.wait((await full.client.execute({ to: full.address, data: SET_DATA })).transactionHash)
    const error = await none.client.execute({ to: none.address, data: SET_DATA }).catch((thrown: unknown) => thrown)
    expect(code('NOT_AUTHORISED')(error), String(error)).to.equal(true)
  })

  it('goes back to a state, chain and ledger, more than once', async () => {
    let state = await testbed.dump()
    const [before, quota] = [await balance(), await testbed.client.quota()]
    for (let round = 0; round < 2; round++) {
      await testbed.client.wait((await testbed.client.execute(call)).transactionHash)
      state = await testbed.load(state)
      expect(await balance()).to.equal(before)
      expect((await testbed.client.quota()).quota).to.equal(quota.quota)
    }
  })

  it('kills a relay that has a process of its own, and loses nothing', async () => {
    await using other = await startTestbed({ process: true })
    await other.setBlockTime(3600)
    const { transactionHash } = await other.client.execute(call)
    await other.killRelay()
    expect(await fetch(other.relayUrl).catch(() => 'gone')).to.equal('gone')
    await other.startRelay()
    await other.setBlockTime(0.1)
    expect(await other.client.wait(transactionHash)).to.include({ status: 'executed' })
  })
})

/** `setData(bytes32,bytes)` of ERC725Y. */
const SET_DATA =
  `0x7f23690c${'ab'.repeat(32)}${'40'.padStart(64, '0')}${'01'.padStart(64, '0')}${'c0'.padEnd(64, '0')}` as const
