import { expect } from 'chai'
import { targetInterface } from '../../contracts/deploy/targets.ts'
import { serve } from '../../conformance/test/support/serve.ts'
import { isRelayError } from '../index.ts'
import { startWorld, succeed, thrownBy, type World } from './support/world.ts'

describe('wait()', () => {
  let world: World
  let hash: string
  before(async () => {
    world = await startWorld()
    hash = (await world.client().execute(succeed(world.target))).transactionHash
  })
  after(() => world?.close())

  const OTHER = `0x${'ab'.repeat(32)}`
  const statusOf = (status: string, transactionHash: string) =>
    JSON.stringify({ status, transactionHash, attempts: [], block: null, gasUsed: null, charged: null })

  it('tells where a transaction was executed', async () => {
    const outcome = await world.client().wait(hash)
    if (outcome.status !== 'executed') throw new Error(outcome.status)
    expect(outcome.transactionHash).to.equal(hash)
    expect(outcome.blockNumber > 0n && outcome.gasUsed > 21_000n).to.equal(true)
  })

  it('tells that it reverted', async () => {
    const from = world.fixture.funder?.address
    const data = targetInterface.encodeFunctionData('refuse', [1])
    const params = [{ from, to: world.target, data, gas: '0x20000' }]
    // Hardhat mines it, and answers with its error.
    await thrownBy(world.provider.request({ method: 'eth_sendTransaction', params }))
    const head: unknown = await world.provider.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })
    const [reverted = ''] = (head as { transactions: string[] }).transactions
    expect(await world.client().wait(reverted)).to.include({ status: 'reverted', transactionHash: reverted })
  })

  it('follows a transaction that took the place of the one that was asked for', async () => {
    await using relay = await serve((_request, response) => void response.end(statusOf('pending', hash)))
    const outcome = await world.client({ relayUrl: relay.url }).wait(OTHER)
    expect(outcome).to.include({ status: 'executed', transactionHash: hash })
    expect(relay.requests[0]).to.include({ method: 'GET', path: `/transactions/${OTHER}` })
  })

  it('says that the relay has given it up', async () => {
    await using relay = await serve((_request, response) => void response.end(statusOf('abandoned', OTHER)))
    const outcome = await world.client({ relayUrl: relay.url }).wait(OTHER)
    expect(outcome).to.deep.equal({ status: 'abandoned', transactionHash: OTHER })
  })

  it('waits for as many blocks as it is told to', async () => {
    const client = world.client()
    const outcome = await client.wait(hash)
    const head = BigInt(String(await world.provider.request({ method: 'eth_blockNumber' })))
    const depth = 'blockNumber' in outcome ? Number(head - outcome.blockNumber) + 1 : 0
    await world.mine(99 - depth)
    const error = await thrownBy(client.wait(hash, { confirmations: 100, timeoutMs: 150 }))
    expect(isRelayError(error, 'WAIT_TIMED_OUT')).to.equal(true)
    await world.mine(1)
    expect(await client.wait(hash, { confirmations: 100, timeoutMs: 150 })).to.include({ status: 'executed' })
  })

  it('gives up after its time where the relay does not know the transaction, or tells of none', async () => {
    for (const [status, text] of [
      [404, ''],
      [200, 'welcome'],
      [500, ''],
    ] as const) {
      await using relay = await serve((_request, response) => void response.writeHead(status).end(text))
      const error = await thrownBy(world.client({ relayUrl: relay.url }).wait(OTHER, { timeoutMs: 150 }))
      if (!isRelayError(error, 'WAIT_TIMED_OUT')) throw error as Error
      expect(error.details.transactionHash).to.equal(OTHER)
    }
  })

  it('asks a relay once that has no such path', async () => {
    for (const [status, text, isAskedAgain] of [
      [404, 'Cannot GET', false],
      [404, JSON.stringify({ code: 'NOT_FOUND', message: 'not yet', details: {}, broadcast: false }), true],
      [503, 'busy', true],
    ] as const) {
      await using relay = await serve((_request, response) => void response.writeHead(status).end(text))
      await thrownBy(world.client({ relayUrl: relay.url }).wait(OTHER, { timeoutMs: 500 }))
      expect(relay.requests.length > 1, text).to.equal(isAskedAgain)
    }
  })

  it('ends with the signal, and takes hashes alone', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    expect(await thrownBy(world.client().wait(OTHER, { signal }))).to.include({ message: 'enough' })
    for (const [of, options] of [
      ['0x12', {}],
      [hash, { timeoutMs: NaN }],
      [hash, { confirmations: -1 }],
    ] as const) {
      expect(await thrownBy(world.client().wait(of, options))).to.be.instanceOf(TypeError)
    }
  })
})
