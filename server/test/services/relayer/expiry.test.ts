import { expect } from 'chai'
import { validityWindow } from '../../../../contracts/lsp25.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { Upstream } from '../../../services/node/upstream.ts'
import { createExpiryCheck } from '../../../services/relayer/expiry.ts'
import { startRelayChain } from '../../support/relay-chain.ts'
import { startRelayServer } from '../../support/relay-server.ts'
import { until } from '../../support/until.ts'

const START = 1_700_000_000

describe('calls that expire soon', () => {
  /** A chain whose blocks take so long, and whose latest is the last but one. */
  function setUp({ blockSeconds = 12, minValiditySeconds = null as number | null, blocks = 1_000 } = {}) {
    let nowMs = 5_000_000
    let asked = 0
    const upstream = {
      request: (_method: string, [block]: [string]) => {
        asked++
        const number = block === 'latest' ? blocks : Number(block)
        const timestamp = START - (blocks - number) * blockSeconds
        return Promise.resolve({
          number: `0x${number.toString(16)}`,
          hash: `0x${number}`,
          timestamp: `0x${timestamp.toString(16)}`,
        })
      },
      close: () => Promise.resolve(),
    } as unknown as Upstream
    const assertLasts = createExpiryCheck({
      upstream,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      minValiditySeconds,
    })
    const codeOf = async (endSeconds: number) => {
      try {
        await assertLasts({ validityTimestamps: validityWindow(0, endSeconds) })
        return 'taken'
      } catch (error) {
        if (error instanceof ServiceError) return error.code
        throw error
      }
    }
    return { codeOf, assertLasts, pass: (ms: number) => (nowMs += ms), asked: () => asked }
  }

  it('are refused within three block times of the chain', async () => {
    const { codeOf } = setUp({ blockSeconds: 12 })
    expect(await codeOf(START + 36)).to.equal('taken')
    expect(await codeOf(START + 35)).to.equal('EXPIRES_TOO_SOON')
    expect(await codeOf(START)).to.equal('EXPIRES_TOO_SOON')
  })

  it('are left to the key manager when they are over', async () => {
    const { codeOf } = setUp()
    expect(await codeOf(START - 1)).to.equal('taken')
  })

  it('are refused within ten seconds on a fast chain, and never for an hour because a chain has paused', async () => {
    expect(await setUp({ blockSeconds: 1 }).codeOf(START + 9)).to.equal('EXPIRES_TOO_SOON')
    expect(await setUp({ blockSeconds: 1 }).codeOf(START + 10)).to.equal('taken')
    expect(await setUp({ blockSeconds: 100_000 }).codeOf(START + 180)).to.equal('taken')
    expect(await setUp({ blocks: 0 }).codeOf(START + 180)).to.equal('taken')
  })

  it('are refused within as many seconds as configured', async () => {
    const { codeOf } = setUp({ minValiditySeconds: 100 })
    expect(await codeOf(START + 99)).to.equal('EXPIRES_TOO_SOON')
    expect(await codeOf(START + 100)).to.equal('taken')
    expect(await setUp({ minValiditySeconds: 0 }).codeOf(START)).to.equal('taken')
  })

  it('are measured by the time of the chain, which goes on between blocks', async () => {
    const { codeOf, pass, asked } = setUp({ blockSeconds: 12 })
    expect(await codeOf(START + 40)).to.equal('taken')
    const before = asked()
    expect(await codeOf(START + 40)).to.equal('taken')
    expect(asked()).to.equal(before)
    pass(5_000)
    expect(await codeOf(START + 40)).to.equal('EXPIRES_TOO_SOON')
  })

  it('cost no question to the node when they have no end', async () => {
    const { assertLasts, asked } = setUp()
    await assertLasts({ validityTimestamps: 0n })
    await assertLasts({ validityTimestamps: validityWindow(START + 5, 0) })
    expect(asked()).to.equal(0)
  })

  it('are answered as before when the same call was taken while there was time', async () => {
    const chain = await startRelayChain('hardhat', 1)
    let aheadMs = 0
    const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + aheadMs }
    const server = await startRelayServer({ rpcUrl: chain.node.rpcUrl, signerKeys: chain.signerKeys, clock })
    try {
      const client = chain.client(server.url)
      const { timestamp } = await chain.node.request<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      const end = Number(timestamp) + 100
      const call = { channel: 1n, validityTimestamps: validityWindow(0, end) }
      const { json } = await client.execute(call)
      await until(async () => (await chain.receipt(json.transactionHash)) !== null)
      await chain.node.request('evm_setNextBlockTimestamp', end - 5)
      await chain.node.request('evm_mine')
      // The head that was read before is not believed any more.
      aheadMs = 2_000
      expect((await client.execute(call)).json.transactionHash).to.equal(json.transactionHash)
      const refused = await client.execute({ ...call, channel: 2n })
      expect(refused.json.code).to.equal('EXPIRES_TOO_SOON')
      expect(refused.status).to.equal(422)
      expect(refused.json.broadcast).to.equal(false)
    } finally {
      await server.close()
      await chain.close()
    }
  })
})
