import type { Log, LogFilter } from '../../../../../specs/index.ts'
import { expect } from 'chai'
import { ServiceError } from '../../../../core/errors.ts'
import type { Chain } from '../../../../services/chain/chain.ts'
import { createChain, type CreateChainOptions } from '../../../../services/chain/create-chain.ts'
import { NodeFailure } from '../../../../services/node/node-connection.ts'
import { UpstreamRpcError, type Upstream } from '../../../../services/node/upstream.ts'
import { lasting } from '../../../support/lasting.ts'
import { otherTexts } from '../../../support/provider-texts.ts'
import { ADDRESSES, ScriptedChain, TOPICS } from '../../../support/scripted-chain.ts'

describe('Chain.logs', () => {
  let node: ScriptedChain
  let fetched: number
  let fetchedBlocks: number[]

  beforeEach(() => {
    node = new ScriptedChain(1000)
    node.logsIn = (block) => (block === 500 ? 5000 : block % 7)
    fetched = 0
    fetchedBlocks = []
  })

  const open = (options: Partial<CreateChainOptions> = {}): Chain =>
    createChain({ upstream: node, confirmations: 10, ...options })
  const total = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => node.logsIn(from + index)).reduce(
      (sum, count) => sum + count,
      0,
    )
  /** Counts what is served, and refuses by a rule. */
  const limit = (rule: (logs: number, blocks: number) => Error | undefined = () => undefined) => {
    node.refuseLogs = (logs, blocks) => {
      fetchedBlocks.push(blocks)
      const refusal = rule(logs, blocks)
      if (refusal) throw refusal
      fetched += logs
    }
  }
  const refusal = (message: string, code = -32000) => new UpstreamRpcError({ code, message })

  async function walk(chain: Chain, filter: LogFilter = { fromBlock: '0x0', toBlock: '0x3e8' }): Promise<Log[]> {
    const logs: Log[] = []
    for (let next: Partial<LogFilter> = {}; ;) {
      const page = await chain.logs({ ...filter, ...next })
      logs.push(...page)
      const last = page.at(-1)
      if (page.length < 1000 || !last) return logs
      next = { paging_options: { blockNumber: last.blockNumber, logIndex: last.logIndex } }
    }
  }
  function expectComplete(logs: readonly Log[], count: number) {
    expect(logs).to.have.length(count)
    const places = logs.map((log) => Number(log.blockNumber) * 100_000 + Number(log.logIndex))
    expect(places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0))).to.equal(true)
  }
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'served',
      (error: unknown) => (error instanceof ServiceError ? error.code : error),
    )

  it('fetches each log once on a walk', async () => {
    limit()
    expectComplete(await walk(open()), total(0, 1000))
    expect(fetched).to.equal(total(0, 1000))
  })

  it('asks for more blocks at a time where there are few logs', async () => {
    node = new ScriptedChain(50_000)
    limit()
    await walk(open(), { fromBlock: '0x0', toBlock: 'latest' })
    expect(fetchedBlocks.length).to.be.lessThan(15)
  })

  describe('under the limits of a node', () => {
    const limits: [string, (logs: number, blocks: number) => Error | undefined][] = [
      ['of results, in words', (logs) => (logs > 6000 ? refusal('query returned more than 10000 results') : undefined)],
      ['of results, otherwise', (logs) => (logs > 5000 ? refusal('query exceeds max results 5000') : undefined)],
      ['by code', (logs) => (logs > 5500 ? refusal('limit exceeded', -32005) : undefined)],
      ['by HTTP 413', (logs) => (logs > 5500 ? refusal('HTTP 413', 413) : undefined)],
      ['of bytes', (logs) => (logs > 5500 ? refusal('Log response size exceeded.', -32602) : undefined)],
      ['of blocks', (_logs, blocks) => (blocks > 50 ? refusal('exceed maximum block range: 50') : undefined)],
      [
        'of blocks, otherwise',
        (_logs, blocks) => (blocks > 3 ? refusal('eth_getLogs is limited to a 3 range') : undefined),
      ],
    ]
    for (const [name, rule] of limits) {
      it(name, async () => {
        limit(rule)
        expectComplete(await walk(open()), total(0, 1000))
        expect(fetched).to.equal(total(0, 1000))
      })
    }

    it('of blocks, learned once', async () => {
      limit((_logs, blocks) => (blocks > 50 ? refusal('exceed maximum block range: 50') : undefined))
      const chain = open()
      await walk(chain)
      fetchedBlocks = []
      await walk(chain, { fromBlock: '0x0', toBlock: '0x3e8', address: ADDRESSES[0] ?? '' })
      expect(Math.max(...fetchedBlocks)).to.be.most(50)
    })

    it('at one block, divided by address and by topic', async () => {
      limit((logs) => (logs > 1700 ? refusal('query returned more than 1700 results') : undefined))
      const chain = open()
      const count = total(490, 510)
      const range = { fromBlock: '0x1ea', toBlock: '0x1fe' }
      expectComplete(await walk(chain, { ...range, address: ADDRESSES, topics: [TOPICS] }), count)
      expectComplete(await walk(chain, { ...range, topics: [TOPICS] }), count)
    })

    it('at one block that cannot be divided, says so', async () => {
      limit((logs) => (logs > 4000 ? refusal('query returned more than 4000 results') : undefined))
      expect(await codeOf(walk(open()))).to.equal('RPC_RESPONSE_TOO_LARGE')
    })

    it('divides nothing for another refusal', async () => {
      for (const [code, message, told] of otherTexts) {
        fetchedBlocks = []
        limit(() => refusal(message, code))
        expect(await codeOf(walk(open())), message).to.equal(told)
        expect(fetchedBlocks, message).to.have.length(1)
      }
    })

    describe('over 70,000 blocks of which it takes 1,000 at a time, in few calls', () => {
      const texts: [string, (blocks: number) => UpstreamRpcError, number][] = [
        ['that it tells', (blocks) => refusal(`range ${blocks} exceeds limit of 1000`, -32602), 78],
        ['that it does not tell', () => refusal('Block range is too large', -32062), 88],
        ['with words nobody knows', () => refusal('no', -32603), 88],
        ['with words about the content', () => refusal('too many results'), 95],
      ]
      for (const [name, textOf, most] of texts) {
        it(name, async () => {
          node = new ScriptedChain(70_000)
          node.logsIn = (block) => (block % 200 === 0 ? 1 : 0)
          limit((_logs, blocks) => (blocks > 1000 ? textOf(blocks) : undefined))
          const chain = open()
          expectComplete(await walk(chain, { fromBlock: '0x0', toBlock: 'latest' }), 351)
          expect(fetchedBlocks.length).to.be.within(70, most)

          fetchedBlocks = []
          await walk(chain, { fromBlock: '0x0', toBlock: '0x1388', address: ADDRESSES[1] ?? '' })
          expect(
            fetchedBlocks.filter((blocks) => blocks > 1000),
            'another selection',
          ).to.have.length.most(1)
        })
      }
    })

    it('of blocks, until the node takes more', async () => {
      node = new ScriptedChain(70_000)
      node.logsIn = (block) => (block === 60_000 ? 1 : 0)
      let most = 100
      limit((_logs, blocks) => (blocks > most ? refusal('no') : undefined))
      const chain = open()
      await walk(chain, { fromBlock: '0x0', toBlock: '0x1f40' })
      most = Infinity
      fetchedBlocks = []
      expectComplete(await walk(chain, { fromBlock: '0x0', toBlock: 'latest' }), 1)
      expect(fetchedBlocks.length).to.be.most(80)
      expect(Math.max(...fetchedBlocks)).to.be.greaterThan(10_000)
    })

    it('of addresses, learned once', async () => {
      const many = Array.from({ length: 40 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
      const lengthOf = (filter: unknown) => (filter as { address?: string[] }).address?.length ?? 0
      const lengths = () => node.calls.map(({ params: [filter] }) => lengthOf(filter))
      node.refuseLogs = (_logs, _blocks, filter) => {
        if (lengthOf(filter) > 10) throw refusal('exceed max addresses', -32602)
      }
      const chain = open()
      const filter = { fromBlock: '0x0', toBlock: '0x3e8', address: [...many, ...ADDRESSES] }
      expectComplete(await walk(chain, filter), total(0, 1000))
      node.forget()
      await chain.logs({ ...filter, toBlock: '0x3e7' })
      expect(Math.max(...lengths())).to.be.most(10)
    })

    it('never sends a list that is longer than nodes take', async () => {
      const many = Array.from({ length: 1200 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
      const address = [...many, ...ADDRESSES]
      expectComplete(await walk(open(), { fromBlock: '0x0', toBlock: '0x3e8', address }), total(0, 1000))
      const lengths = node.calls.map(({ params: [filter] }) => (filter as { address?: string[] }).address?.length ?? 0)
      expect(Math.max(...lengths)).to.be.most(500)
    })
  })

  describe('filters of many addresses and topics', () => {
    const many = (count: number, bytes: number, from: readonly string[]) => [
      ...Array.from({ length: count - from.length }, (_, index) => `0x${index.toString(16).padStart(2 * bytes, 'e')}`),
      ...from,
    ]
    const queries = () => node.calls.filter(({ method }) => method === 'eth_getLogs')

    it('are divided by their longest list, not by the product of all', async () => {
      const filter = {
        fromBlock: '0x3e8',
        toBlock: '0x3e8',
        address: many(1200, 20, ADDRESSES.slice(0, 2)),
        topics: [many(2000, 32, TOPICS.slice(0, 2))],
      }
      const wanted = await open().logs({ ...filter, address: ADDRESSES.slice(0, 2), topics: [TOPICS.slice(0, 2)] })
      expect(wanted).not.to.be.empty
      node.forget()
      expect(await open().logs(filter)).to.deep.equal(wanted)
      // 2,000 topics, 500 at a time.
      expect(queries()).to.have.length(4)
    })

    it('have a bound in all, which the error names', async () => {
      const topics = Array.from({ length: 4 }, () => many(3600, 32, TOPICS))
      const error = await open()
        .logs({ fromBlock: '0x0', toBlock: 'latest', topics })
        .catch((thrown: unknown) => thrown as Error)
      expect(error).to.have.property('code', 'RPC_INVALID_PARAMS')
      expect(error).to.have.property('message').that.includes('14400').and.includes('5000')
      expect(queries()).to.be.empty
    })

    it('have a bound of parts where the node takes short lists', async () => {
      node.refuseLogs = (_logs, _blocks, filter) => {
        if (((filter as LogFilter).topics?.[0]?.length ?? 0) > 10) throw refusal('too many topics', -32602)
      }
      const filter = { fromBlock: '0x0', toBlock: '0x64', topics: [many(4000, 32, TOPICS)] }
      const error = await open()
        .logs(filter)
        .catch((thrown: unknown) => thrown as Error)
      expect(error).to.have.property('code', 'RPC_INVALID_PARAMS')
      expect(error).to.have.property('message').that.includes('at most')
      expect(queries().length).to.be.lessThan(4 * 64)
    })

    it('end in few calls where the node refuses each part of a block', async () => {
      node.refuseLogs = () => {
        throw refusal('query returned more than 10000 results', -32005)
      }
      const filter = { fromBlock: '0x1f4', toBlock: '0x1f4' }
      expect(await codeOf(open().logs({ ...filter, topics: [many(400, 32, TOPICS), many(400, 32, [])] }))).to.equal(
        'RPC_RESPONSE_TOO_LARGE',
      )
      expect(queries().length).to.be.lessThan(30)
    })
  })

  it('stays right with nothing kept ahead, and with little', async () => {
    for (const logBytes of [0, 500_000]) {
      expectComplete(await walk(open({ logBytes, cacheBytes: 0 })), total(0, 1000))
    }
  })

  it('keeps pages that are final, and asks again for the young ones only when the head has moved', async () => {
    const chain = open()
    const final = { fromBlock: '0x0', toBlock: '0x64' }
    const page = await chain.logs(final)
    await chain.gasPrice()
    node.forget()
    expect(await chain.logs(final)).to.equal(page)
    expect(node.calls).to.be.empty
    const young = { fromBlock: '0x3e0', toBlock: 'latest' }
    for (let round = 0; round < 3; round++) await chain.logs(young)
    expect(node.asked('eth_getLogs')).to.equal(1)
    node.mine()
    await chain.logs(young)
    expect(node.asked('eth_getLogs')).to.equal(2)
  })

  it('never keeps an answer without logs', async () => {
    const chain = open()
    const empty = { fromBlock: '0x0', toBlock: '0x0' }
    for (let round = 0; round < 3; round++) expect(await chain.logs(empty)).to.deep.equal([])
    expect(node.asked('eth_getLogs')).to.equal(3)
  })

  it('does not take it for granted that a young block has no logs', async () => {
    node.logsIn = (block) => (block === 995 ? 1500 : 0)
    const chain = open()
    const first = await chain.logs({ fromBlock: '0x3e2', toBlock: 'latest' })
    // The node knew the block, and now it knows its logs too.
    node.logsIn = (block) => (block === 995 ? 1500 : block === 998 ? 5 : 0)
    const last = first.at(-1)
    const paging_options = { blockNumber: last?.blockNumber ?? '', logIndex: last?.logIndex ?? '' }
    expect(await chain.logs({ fromBlock: '0x3e2', toBlock: 'latest', paging_options })).to.have.length(505)
  })

  it('gives up after a time, and goes on from there when asked again', async () => {
    node = new ScriptedChain(3000)
    node.logsIn = (block) => (block > 2900 ? 1 : 0)
    let slow = true
    limit((_logs, blocks) => {
      const end = performance.now() + (slow ? 15 : 0)
      while (performance.now() < end);
      return blocks > 100 ? refusal('block range too wide') : undefined
    })
    const chain = open({ logTimeoutMs: 200 })
    const filter = { fromBlock: '0x0', toBlock: 'latest' }
    expect(await codeOf(chain.logs(filter))).to.equal('RPC_LIMIT_EXCEEDED')
    const before = node.asked('eth_getLogs')
    slow = false
    expectComplete(await walk(chain, filter), 100)
    const firstAgain = node.calls.filter(({ method }) => method === 'eth_getLogs')[before]
    expect(Number((firstAgain?.params[0] as { fromBlock: string }).fromBlock)).to.be.greaterThan(0)
  })

  describe('when the node is silent', () => {
    const silence = () =>
      new ServiceError('UPSTREAM_UNAVAILABLE', 'slow', { cause: new NodeFailure('no answer', 'unanswered') })

    it('says so at once, and begins with less when asked again', async () => {
      node = new ScriptedChain(10_000)
      let most = 100
      limit((_logs, blocks) => (blocks > most ? silence() : undefined))
      const chain = open()
      const filter = { fromBlock: '0x0', toBlock: 'latest' }
      expect(await codeOf(chain.logs(filter))).to.equal('UPSTREAM_UNAVAILABLE')
      expect(
        fetchedBlocks.filter((blocks) => blocks > most),
        'time-outs of one request',
      ).to.have.length(1)
      const before = fetchedBlocks.at(-1) ?? 0
      fetchedBlocks = []
      most = 0
      expect(await codeOf(chain.logs(filter))).to.equal('UPSTREAM_UNAVAILABLE')
      expect(fetchedBlocks).to.have.length(1)
      expect(fetchedBlocks[0]).to.be.most(before / 2)
    })

    it('goes on from where it was', async () => {
      node = new ScriptedChain(10_000)
      node.logsIn = (block) => (block % 1000 === 1 ? 1 : 0)
      const chain = open()
      const filter = { fromBlock: '0x0', toBlock: 'latest' }
      let calls = 0
      limit(() => (++calls === 3 ? silence() : undefined))
      expect(await codeOf(chain.logs(filter))).to.equal('UPSTREAM_UNAVAILABLE')
      node.forget()
      expectComplete(await walk(chain, filter), 10)
      const [first] = node.calls.filter(({ method }) => method === 'eth_getLogs')
      expect(Number((first?.params[0] as { fromBlock: string }).fromBlock)).to.equal(72)
    })

    it('is bound by one time for the whole page, however long a call may take', async () => {
      const chain = open({ logTimeoutMs: 100 })
      await chain.logs({ fromBlock: '0x0', toBlock: '0x1' })
      for (const filter of [
        { fromBlock: '0x0', toBlock: '0x3e8' },
        { fromBlock: '0x1f4', toBlock: '0x1f4', address: ADDRESSES, topics: [TOPICS] },
      ]) {
        node.forget()
        node.hold('eth_getLogs')
        const code = await lasting([90, 1_000], () => codeOf(chain.logs(filter)))
        expect(code).to.equal('UPSTREAM_UNAVAILABLE')
        expect(node.asked('eth_getLogs')).to.equal(1)
        node.release()
      }
    })
  })

  it('refuses what are no logs', async () => {
    for (const nonsense of [null, 'logs', [null], [{}], [{ blockNumber: 1 }], [['0x1']]]) {
      const answering: Upstream = {
        request: async <Result>(method: string, params: readonly unknown[]) =>
          method === 'eth_getLogs' ? (nonsense as Result) : node.request<Result>(method, params),
        close: () => node.close(),
      }
      const chain = createChain({ upstream: answering, confirmations: 10 })
      expect(await codeOf(chain.logs({ fromBlock: '0x0' })), JSON.stringify(nonsense)).to.equal('RPC_SERVER_ERROR')
    }
  })

  it('lets many walk at the same time, each log fetched once for all in step', async () => {
    limit()
    const chain = open()
    const walks = await Promise.all(Array.from({ length: 10 }, () => walk(chain)))
    for (const logs of walks) expectComplete(logs, total(0, 1000))
    expect(fetched).to.be.most(2 * total(0, 1000))
  })
})
