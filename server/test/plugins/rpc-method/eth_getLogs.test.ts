import { expect } from 'chai'
import type { Log, LogFilter } from '../../../../specs/index.ts'
import { createSender, type Sender } from '../../../../contracts/deploy/sender.ts'
import { logEmitterInterface } from '../../../../contracts/deploy/seeds.ts'
import { loadArtifact } from '../../../../contracts/artifacts.ts'
import { nodeKinds, type TestNode } from '../../support/nodes.ts'
import { until } from '../../support/until.ts'
import { startRpcFront, type RpcFront } from '../../support/rpc-server.ts'

const EVEN = logEmitterInterface.getEvent('Even')?.topicHash ?? ''
const ODD = logEmitterInterface.getEvent('Odd')?.topicHash ?? ''
/** Emits one log without topics. */
const BARE_LOG_INIT_CODE = '0x60006000a0'
/** Logs per block of the first emitter: pages that end inside of blocks, and a block that is more than two pages. */
const BLOCKS = [1, 400, 599, 7, 2500, 1, 300]
/** Of the second: exactly two pages. */
const EXACT = [600, 400, 1000]

const topicOf = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

for (const [name, start] of Object.entries(nodeKinds)) {
  describe(`eth_getLogs in front of ${name}`, () => {
    let node: TestNode
    let front: RpcFront
    let sender: Sender
    let emitter: string
    let exact: string
    /** Every log of the chain, in the node's own words. */
    let all: Log[]

    before(async () => {
      node = await start()
      sender = await createSender(node.deployer)
      const { bytecode } = await loadArtifact('LogEmitter')
      const deployed = [sender.deploy(bytecode), sender.deploy(bytecode)] as const
      ;[emitter, exact] = [deployed[0].address, deployed[1].address]
      await Promise.all(deployed.map((one) => one.deployed))
      for (const count of BLOCKS) await emit(emitter, count)
      for (const count of EXACT) await emit(exact, count)
      await sender.mined(await sender.send({ data: BARE_LOG_INIT_CODE, gasLimit: 200_000 }))
      all = await node.request<Log[]>('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })
      front = await startRpcFront([node.rpcUrl], { confirmations: 2 })
    })
    beforeEach(() => front.forget())
    after(async () => {
      await front.close()
      await node.close()
    })

    async function emit(to: string, count: number): Promise<number> {
      const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
      return (await sender.mined(await sender.send({ to, data }))).blockNumber
    }
    /** From another account, so that the sender's nonces stay as they are when the chain is taken back. */
    async function emitAs(account: number, to: string, count: number): Promise<void> {
      const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
      const hash = await node.request('eth_sendTransaction', { from: node.accounts[account], to, data })
      await until(async () => (await node.request('eth_getTransactionReceipt', hash)) !== null)
    }
    const page = (filter: LogFilter & Record<string, unknown>) => front.call<Log[]>('eth_getLogs', filter)
    const keysOf = (log: Log | undefined) => ({ blockNumber: log?.blockNumber ?? '', logIndex: log?.logIndex ?? '' })
    const code = (call: Promise<unknown>) =>
      call.then(
        () => 'served',
        (error: unknown) => (error as { code: number }).code,
      )

    /** Page by page with the keys of the last entry, until a page is short. */
    async function walk(filter: LogFilter): Promise<Log[][]> {
      const pages: Log[][] = []
      for (let next: Partial<LogFilter> = {}; ;) {
        const logs = await page({ ...filter, ...next })
        pages.push(logs)
        if (logs.length < 1000) return pages
        next = { paging_options: keysOf(logs.at(-1)) }
      }
    }
    /** Places of all; every member of a few, since chai takes its time over thousands. */
    const expectSame = (logs: readonly Log[], truth: readonly Log[]) => {
      const placesOf = (list: readonly Log[]) => list.map((log) => `${log.blockNumber}:${log.logIndex}`).join(' ')
      expect(placesOf(logs)).to.equal(placesOf(truth))
      for (let index = 0; index < logs.length; index += 500) expect(truth[index]).to.deep.include(logs[index])
    }

    describe('paging', () => {
      it('walks over everything: ascending, no gap, no repeat, each log fetched once', async () => {
        const pages = await walk({ fromBlock: '0x0', toBlock: 'latest' })
        expect(pages.slice(0, -1).every(({ length }) => length === 1000)).to.equal(true)
        expectSame(pages.flat(), all)
        expect(front.logsFetched()).to.equal(all.length)
      })

      it('walks inside of a block that is more than two pages', async () => {
        const large = all.filter(
          ({ blockNumber }) => all.filter((one) => one.blockNumber === blockNumber).length === 2500,
        )
        const [{ blockNumber = '', blockHash = '' } = {}] = large
        for (const filter of [{ fromBlock: blockNumber, toBlock: blockNumber }, { blockHash }]) {
          front.forget()
          const pages = await walk(filter)
          expect(pages.map(({ length }) => length)).to.deep.equal([1000, 1000, 500])
          expectSame(pages.flat(), large)
          expect(front.logsFetched()).to.be.most(2500)
        }
      })

      it('ends an exact multiple with an empty page', async () => {
        const pages = await walk({ address: exact, fromBlock: 'earliest' })
        expect(pages.map(({ length }) => length)).to.deep.equal([1000, 1000, 0])
        const one = await walk({ address: exact, fromBlock: 'earliest', toBlock: all.at(-1002)?.blockNumber ?? '' })
        expect(one.map(({ length }) => length)).to.deep.equal([1000, 0])
      })

      it('takes the keys with and without 0x, in any letter case, and ignores a third one', async () => {
        const [first = [], second = []] = await walk({ address: emitter, fromBlock: '0x0' })
        const { blockNumber, logIndex } = keysOf(first.at(-1))
        for (const paging_options of [
          { blockNumber, logIndex },
          { blockNumber: blockNumber.slice(2), logIndex: logIndex.slice(2) },
          { blockNumber: blockNumber.slice(2).toUpperCase(), logIndex: `0x${logIndex.slice(2).toUpperCase()}` },
          { blockNumber: blockNumber.slice(2).padStart(6, '0'), logIndex: `0x0${logIndex.slice(2)}` },
          { blockNumber, logIndex, transactionIndex: 0 },
          { blockNumber, logIndex, transactionIndex: '0x0' },
        ]) {
          expectSame(await page({ address: emitter, fromBlock: '0x0', paging_options }), second)
        }
      })

      it('refuses keys that would silently begin anew', async () => {
        for (const paging_options of [
          {},
          { blockNumber: '0x1' },
          { logIndex: '0x1' },
          { blockNumber: '', logIndex: '0x1' },
          { blockNumber: '0x', logIndex: '0x1' },
          { blockNumber: 'latest', logIndex: '0x1' },
          { blockNumber: 1, logIndex: 1 },
          { blockNumber: null, logIndex: '0x1' },
          null,
          [],
        ]) {
          expect(
            await code(page({ fromBlock: '0x0', paging_options } as never)),
            JSON.stringify(paging_options),
          ).to.equal(-32602)
        }
      })

      it('begins with the range when the keys lie before it, and is at its end when they lie past it', async () => {
        const middle = all[1500]?.blockNumber ?? ''
        const truth = all.filter(({ blockNumber }) => blockNumber === middle).slice(0, 1000)
        const range = { fromBlock: middle, toBlock: middle }
        expectSame(await page({ ...range, paging_options: { blockNumber: '0x0', logIndex: '0xff' } }), truth)
        for (const blockNumber of ['0xfffff', 'f'.repeat(16)]) {
          expect(await page({ ...range, paging_options: { blockNumber, logIndex: '0x0' } })).to.deep.equal([])
        }
        expect(await page({ ...range, paging_options: { blockNumber: middle, logIndex: 'ffffffff' } })).to.deep.equal(
          [],
        )
      })

      it('works from any place, whether it was the end of a page or not', async () => {
        for (const index of [0, 1, 999, 1000, 1001, 2024, all.length - 2, all.length - 1]) {
          const logs = await page({ fromBlock: '0x0', paging_options: keysOf(all[index]) })
          expectSame(logs, all.slice(index + 1, index + 1001))
        }
      })

      it('works without anything kept ahead', async () => {
        const forgetful = await startRpcFront([node.rpcUrl], { logBytes: 0, cacheBytes: 0 })
        let logs: Log[] = []
        const found: Log[] = []
        do {
          const paging_options = keysOf(found.at(-1))
          logs = await forgetful.call('eth_getLogs', { fromBlock: '0x0', ...(found.length > 0 && { paging_options }) })
          found.push(...logs)
        } while (logs.length === 1000)
        await forgetful.close()
        expectSame(found, all)
      })

      it('shows what is mined during the walk, after what was there before', async () => {
        const snapshot = await node.request('evm_snapshot')
        const [first = []] = await walk({ address: exact, fromBlock: '0x0' })
        await emitAs(5, exact, 30)
        const rest = await walk({ address: exact, fromBlock: '0x0', paging_options: keysOf(first.at(-1)) })
        expect(rest.flat()).to.have.length(1030)
        await node.request('evm_revert', snapshot)
      })

      it('says so when the block of the keys was reorganised', async () => {
        const snapshot = await node.request('evm_snapshot')
        const from = `0x${(Number(await node.request('eth_blockNumber')) + 1).toString(16)}`
        await emitAs(6, exact, 1500)
        const first = await page({ fromBlock: from })
        expect(first).to.have.length(1000)
        await node.request('evm_revert', snapshot)
        const again = await node.request('evm_snapshot')
        await node.request('evm_mine')
        await emitAs(6, exact, 1500)
        const next = page({ fromBlock: from, paging_options: keysOf(first.at(-1)) })
        const error = await next.then(
          () => undefined,
          (thrown: unknown) => thrown as { code: number; data: { reorganised: boolean } },
        )
        expect([error?.code, error?.data.reorganised]).to.deep.equal([-32001, true])
        // Begun anew it works, on the chain as it is.
        expect((await walk({ fromBlock: from })).flat()).to.have.length(1500)
        await node.request('evm_revert', again)
      })
    })

    describe('filters', () => {
      const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
      const [first, other] = [topicOf(3), topicOf(7)]
      const cases: [string, () => LogFilter, (log: Log) => boolean][] = [
        ['no narrowing', () => ({}), () => true],
        ['an address', () => ({ address: emitter.toLowerCase() }), (log) => isFrom(log, emitter)],
        ['an address in upper case', () => ({ address: upper(emitter) }), (log) => isFrom(log, emitter)],
        ['a list of one address', () => ({ address: [exact] }), (log) => isFrom(log, exact)],
        [
          'several addresses',
          () => ({ address: [emitter, exact, exact] }),
          (log) => isFrom(log, emitter) || isFrom(log, exact),
        ],
        ['an empty list of addresses', () => ({ address: [] }), () => true],
        ['null for the address', () => ({ address: null }), () => true],
        ['no topics', () => ({ topics: [] }), () => true],
        ['null for the topics', () => ({ topics: null }), () => true],
        ['a topic', () => ({ topics: [upper(EVEN)] }), (log) => log.topics[0] === EVEN],
        ['alternatives', () => ({ topics: [[EVEN, ODD]] }), (log) => log.topics.length > 0],
        ['a wildcard alone', () => ({ topics: [null] }), (log) => log.topics.length > 0],
        ['an empty list of alternatives', () => ({ topics: [[]] }), (log) => log.topics.length > 0],
        ['a wildcard, then a topic', () => ({ topics: [null, first] }), (log) => log.topics[1] === first],
        [
          'a topic, a wildcard, alternatives',
          () => ({ topics: [ODD, [], [first, other]] }),
          (log) => log.topics[0] === ODD && [first, other].includes(log.topics[2] ?? ''),
        ],
        ['wildcards at the end', () => ({ topics: [EVEN, null, null, null] }), (log) => log.topics[0] === EVEN],
        ['a topic that none has', () => ({ topics: [topicOf(1)] }), () => false],
      ]
      const isFrom = (log: Log, address: string) => log.address === address.toLowerCase()
      for (const [title, filter, holds] of cases) {
        it(title, async () => {
          expectSame((await walk({ fromBlock: '0x0', ...filter() })).flat(), all.filter(holds))
        })
      }

      it('a range, by number, integer and tag', async () => {
        const [from, to] = [all[1]?.blockNumber ?? '', all[3600]?.blockNumber ?? '']
        const within = ({ blockNumber }: Log) =>
          Number(blockNumber) >= Number(from) && Number(blockNumber) <= Number(to)
        expectSame((await walk({ fromBlock: from, toBlock: to })).flat(), all.filter(within))
        expectSame((await walk({ fromBlock: Number(from), toBlock: upper(to) })).flat(), all.filter(within))
        expectSame((await walk({ fromBlock: 'earliest', toBlock: 'pending' })).flat(), all)
        const head = await node.request('eth_blockNumber')
        expectSame(
          await page({}),
          all.filter(({ blockNumber }) => blockNumber === head),
        )
        expectSame(await page({ fromBlock: head as string }), await page({ fromBlock: 'latest', toBlock: 'latest' }))
      })
      it('a range that lies ahead of the chain has no logs, and one that runs ahead ends with the chain', async () => {
        expect(await page({ fromBlock: '0xffffff', toBlock: '0xfffffff' })).to.deep.equal([])
        expect(await page({ fromBlock: '0xffffff' })).to.deep.equal([])
        expectSame((await walk({ fromBlock: '0x0', toBlock: '0xffffff' })).flat(), all)
      })
      it('a range that ends before it begins is refused', async () => {
        expect(await code(page({ fromBlock: '0x2', toBlock: '0x1' }))).to.equal(-32602)
      })
      it('a block by its hash; an unknown one is said, in the same words for every node', async () => {
        const { blockHash = '', blockNumber } = all[5] ?? {}
        expectSame(
          await page({ blockHash: upper(blockHash) }),
          all.filter((log) => log.blockNumber === blockNumber),
        )
        expectSame(
          await page({ blockHash, topics: [ODD] }),
          all.filter((log) => log.blockNumber === blockNumber && log.topics[0] === ODD),
        )
        const { hash } = await node.request<{ hash: string }>('eth_getBlockByNumber', '0x0', false)
        expect(await page({ blockHash: hash })).to.deep.equal([])
        expect(await code(page({ blockHash: topicOf(1) }))).to.equal(-32001)
      })
      it('what is malformed is refused', async () => {
        for (const filter of [
          { address: '0x12' },
          { address: [null] },
          { address: {} },
          { topics: EVEN },
          { topics: ['0x12'] },
          { topics: [[['0x12']]] },
          { topics: [null, null, null, null, null] },
          { fromBlock: 'newest' },
          { fromBlock: '10' },
          { toBlock: -1 },
          { blockHash: '0x12' },
          { blockHash: topicOf(1), fromBlock: '0x0' },
          { blockHash: topicOf(1), toBlock: 'latest' },
          { adress: emitter },
        ]) {
          expect(await code(page(filter as never)), JSON.stringify(filter)).to.equal(-32602)
        }
        expect(front.asked('eth_getLogs')).to.equal(0)
        expect(await code(front.call('eth_getLogs'))).to.equal(-32602)
        expect(await code(front.call('eth_getLogs', {}, {}))).to.equal(-32602)
      })
    })

    it('has as many logs as the test means to have', () => {
      expect(all).to.have.length(sum(BLOCKS) + sum(EXACT) + 1)
    })
  })
}
