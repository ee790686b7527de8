import { expect } from 'chai'
import { SingleFlight } from '../../../../concurrency/single-flight.ts'
import { LogFetcher } from '../../../../services/chain/logs/fetcher.ts'
import type { LogSelection } from '../../../../services/chain/logs/filter.ts'
import { UpstreamRpcError, type Upstream } from '../../../../services/node/upstream.ts'

/** The most blocks that each node takes. */
const LIMITS = { strict: 100, generous: 10_000 }

describe('limits of several nodes', () => {
  let node: keyof typeof LIMITS
  let asked: { readonly node: string; readonly blocks: number; readonly refused: boolean }[]
  let fetcher: LogFetcher

  const upstream: Upstream = {
    request: async <Result>(
      _method: string,
      [filter]: readonly unknown[],
      options?: { onNode?: (name: string) => void },
    ) => {
      const { fromBlock, toBlock } = filter as Record<'fromBlock' | 'toBlock', string>
      const blocks = Number(toBlock) - Number(fromBlock) + 1
      const refused = blocks > LIMITS[node]
      asked.push({ node, blocks, refused })
      options?.onNode?.(node)
      if (refused) throw new UpstreamRpcError({ code: -32000, message: 'block range is too large' })
      return [] as Result
    },
    close: async () => {},
  }

  beforeEach(() => {
    node = 'strict'
    asked = []
    fetcher = new LogFetcher(upstream, new SingleFlight())
  })

  /** Fetches 3,000 blocks, for a selection that nobody has asked for. @returns the calls that this took */
  async function walk(key: string) {
    const before = asked.length
    const selection: LogSelection = { key, addresses: [], topics: [] }
    for (let from = 0; from < 3_000;) {
      from = (await fetcher.chunk(selection, from, 2_999, performance.now() + 10_000)).end + 1
    }
    return asked.slice(before)
  }
  const refused = (calls: typeof asked) => calls.filter((call) => call.refused).length

  it('are learnt of each: one that takes more is asked for more, and the other is not forgotten for it', async () => {
    expect(refused(await walk('first'))).to.be.greaterThan(0)
    node = 'generous'
    const more = await walk('second')
    expect(refused(more)).to.equal(0)
    expect(Math.max(...more.map(({ blocks }) => blocks))).to.be.greaterThan(500)
    node = 'strict'
    // The first call may be one for the other node: then it is known who answers.
    expect(refused(await walk('third'))).to.be.most(1)
  })
})
