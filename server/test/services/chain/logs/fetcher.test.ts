import type { Log, LogFilter } from '../../../../../specs/index.ts'
import { expect } from 'chai'
import { loadArtifact } from '../../../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../../../contracts/deploy/seeds.ts'
import { createSender } from '../../../../../contracts/deploy/sender.ts'
import {
  startLimitedProvider,
  type LimitedProvider,
  contentTexts,
  otherTexts,
  rangeTexts,
} from '../../../support/provider-texts.ts'
import { nodeKinds, type TestNode } from '../../../support/nodes.ts'
import { startRpcFront, type RpcFront } from '../../../support/rpc-server.ts'

/** Blocks without logs after each of these blocks, and the logs in it. */
const GAP = 60
const LOGS = [5, 900, 0, 3, 0, 0, 40, 700, 650, 2, 0, 0, 0, 0, 1, 300]

for (const [name, start] of Object.entries(nodeKinds)) {
  // The texts are the provider's, not the node's: one node hears them all.
  const some = <T>(texts: readonly T[]) => (name === 'hardhat' ? texts : texts.filter((_, index) => index % 6 === 0))

  describe(`LogFetcher behind a provider with limits, ${name}`, () => {
    let node: TestNode
    let provider: LimitedProvider
    let front: RpcFront
    let truth: string

    before(async () => {
      node = await start()
      const sender = await createSender(node.deployer)
      const emitter = sender.deploy((await loadArtifact('LogEmitter')).bytecode)
      await emitter.deployed
      for (const count of LOGS) {
        const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
        if (count > 0) await sender.mined(await sender.send({ to: emitter.address, data }))
        await node.request('hardhat_mine', `0x${GAP.toString(16)}`)
      }
      truth = places(await node.request<Log[]>('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }))
      provider = await startLimitedProvider(node.rpcUrl, {} as never)
    })
    beforeEach(async () => {
      front = await startRpcFront([provider.url], { confirmations: 2 })
      provider.forget()
      provider.limits = {}
    })
    afterEach(() => front.close())
    after(async () => {
      await provider.close()
      await node.close()
    })

    const places = (logs: readonly Log[]) =>
      logs.map((log) => `${Number(log.blockNumber)}:${Number(log.logIndex)}`).join(' ')
    const refused = () => provider.queries.filter((query) => query.refused).length

    async function walk(filter: LogFilter = { fromBlock: '0x0', toBlock: 'latest' }): Promise<string> {
      const logs: Log[] = []
      for (let next: Partial<LogFilter> = {}; ;) {
        const page = await front.call<Log[]>('eth_getLogs', { ...filter, ...next })
        logs.push(...page)
        const last = page.at(-1)
        if (page.length < 1000 || !last) return places(logs)
        next = { paging_options: { blockNumber: last.blockNumber, logIndex: last.logIndex } }
      }
    }

    describe('of blocks', () => {
      for (const text of some(rangeTexts)) {
        it(text.provider, async () => {
          provider.text = text
          provider.limits = { blocks: 50 }
          expect(await walk()).to.equal(truth)
          // 1,000 blocks take 20 calls at the least; what is not told is found by halves.
          expect(provider.queries.length, 'calls').to.be.most(50)
          provider.forget()
          // Another selection begins with what is known.
          await walk({ fromBlock: '0x0', toBlock: 'latest', topics: [null] })
          expect(refused(), 'refused later').to.be.most(3)
        })
      }
    })

    describe('of logs', () => {
      for (const text of some(contentTexts)) {
        it(text.provider, async () => {
          provider.text = text
          provider.limits = { logs: 1000 }
          expect(await walk()).to.equal(truth)
          expect(refused(), 'refused').to.be.most(20)
        })
      }
    })

    it('of both', async () => {
      provider.text = { provider: 'one', error: () => ({ code: -32000, message: 'no' }) }
      provider.limits = { blocks: 150, logs: 950 }
      expect(await walk()).to.equal(truth)
    })

    it('ends in a clear error when one block is refused', async () => {
      provider.text = { provider: 'one', error: () => ({ code: -32000, message: 'block range too large' }) }
      provider.limits = { logs: 800 }
      const error = await walk().catch((thrown: unknown) => thrown as { code: number; message: string })
      expect(error).to.include({ code: -32000, message: 'Server error: the node refuses: block range too large' })
      provider.text = {
        provider: 'one',
        error: () => ({ code: -32005, message: 'query returned more than 800 results' }),
      }
      const other = await walk().catch((thrown: unknown) => thrown as { code: number })
      expect(other).to.include({ code: -32003 })
    })

    it('asks only once where less would not help', async () => {
      provider.limits = { blocks: 1 }
      for (const [code, message, told] of otherTexts) {
        provider.text = { provider: 'one', error: () => ({ code, message }) }
        provider.forget()
        const error = await walk().catch((thrown: unknown) => thrown as { code: number; message: string })
        const words = told === 'UPSTREAM_UNAVAILABLE' ? 'Upstream unavailable' : 'Server error'
        expect(error, message).to.include({ code: -32000, message: `${words}: the node refuses: ${message}` })
        expect(provider.queries, message).to.have.length(1)
      }
    })
  })
}
