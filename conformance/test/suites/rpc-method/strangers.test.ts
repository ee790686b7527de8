import { expect } from 'chai'
import { JsonRpcProvider } from 'ethers'
import type { Fixture } from '../../../../contracts/deploy/fixture.ts'
import { startAnvil, startGanache } from '../../../../testbed/test/support/nodes.ts'
import { check } from '../../../index.ts'
import type { Report } from '../../../lib/report-types.ts'
import { parseLossless, stringify } from '../../../lib/lossless-json.ts'
import { provisionOn, startProvisionedChain } from '../../support/provisioned-chain.ts'
import { serve, type TestServer } from '../../support/serve.ts'

type Json = Readonly<Record<string, unknown>>
type Log = Readonly<Record<string, string>>

/** Habits of servers where the documents are silent. */
interface StrangerHabits {
  /** Where the server reads the pagination options. */
  readonly keys?: 'paging_options' | 'second parameter' | 'filter' | 'onward'
  /** A third key that the server requires. */
  readonly thirdKeyRequired?: boolean
  /** How a request must write the values of the keys. */
  readonly spelling?: 'any' | 'bare'
  readonly pageSize?: number
  /** The server refuses ranges of more blocks. */
  readonly maxBlocks?: number
  /** The server refuses filters that select more logs, in place of returning a page. */
  readonly refusesMoreThan?: number
  /** The server refuses these filters. */
  readonly refusesFilter?: (filter: Json) => boolean
  /** What the server returns in place of a later page. */
  readonly nextPage?: 'the first again' | 'any topics'
  /** The HTTP status and the form of every error. */
  readonly error?: (code: number, id: unknown) => { readonly status: number; readonly body: string }
  /** Alters a served result. */
  readonly result?: (method: string, result: unknown, params: readonly unknown[]) => unknown
}

const listed = new Set([
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
])

function jsonRpcError(code: number, id: unknown) {
  return { status: 200, body: stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }) }
}

class Refusal extends Error {
  readonly code: number

  constructor(code: number) {
    super(`${code}`)
    this.code = code
  }
}

function isAfter(log: Log, keys: Json): boolean {
  const read = (key: string) => BigInt(`0x${String(keys[key]).replace(/^0x/, '')}`)
  const [block, index] = [BigInt(log['blockNumber'] ?? 0), BigInt(log['logIndex'] ?? 0)]
  return block > read('blockNumber') || (block === read('blockNumber') && index > read('logIndex'))
}

/** POST {base_url}/api/eth-rpc, written after the document alone, without code of the reference server. */
function startStranger(rpcUrl: string, habits: StrangerHabits = {}): Promise<TestServer> {
  const { keys: place = 'paging_options', pageSize = 1000, error = jsonRpcError } = habits

  async function node(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number } }
    if (error) throw new Refusal(error.code === -32602 ? -32602 : -32000)
    return result
  }

  /** A walk asks for the same thousands of logs page by page, so the server keeps what the node returned. */
  const selected = new Map<string, Promise<unknown>>()
  async function select(filter: Json): Promise<Log[]> {
    const key = JSON.stringify([await node('eth_blockNumber', []), filter])
    const found = selected.get(key) ?? node('eth_getLogs', [filter])
    selected.set(key, found)
    return (await found) as Log[]
  }

  async function logs(params: readonly unknown[]): Promise<unknown> {
    const [{ paging_options, onward, logIndex, blockNumber, transactionIndex, ...filter }, second] = params as [
      Json,
      unknown,
    ]
    const inFilter = logIndex === undefined ? undefined : { logIndex, blockNumber, transactionIndex }
    const keys = { paging_options, onward, 'second parameter': second, filter: inFilter }[place] as Json | undefined
    const [from, to] = [Number(filter['fromBlock']), Number(filter['toBlock'])]
    const width = to - from + 1
    if (habits.refusesFilter?.(filter)) throw new Refusal(-32602)
    if (width > (habits.maxBlocks ?? Infinity)) throw new Refusal(-32005)
    if (keys && habits.thirdKeyRequired && keys['transactionIndex'] === undefined) throw new Refusal(-32602)
    if (keys && habits.spelling === 'bare' && String(keys['logIndex']).startsWith('0x')) throw new Refusal(-32602)
    if (keys && (keys['logIndex'] === undefined || keys['blockNumber'] === undefined)) throw new Refusal(-32602)
    if (keys) isAfter({ blockNumber: '0x0', logIndex: '0x0' }, keys)
    const wanted = keys && habits.nextPage === 'any topics' ? { ...filter, topics: [] } : filter
    const all = await select(wanted)
    if (all.length > (habits.refusesMoreThan ?? Infinity)) throw new Refusal(-32005)
    const isFirst = !keys || habits.nextPage === 'the first again'
    return all.filter((log) => isFirst || isAfter(log, keys)).slice(0, pageSize)
  }

  async function respond(body: string): Promise<{ status: number; body: string }> {
    let id: unknown = null
    try {
      const request = parseLossless(body) as Json
      id = request['id']
      const [method, params] = [String(request['method']), (request['params'] ?? []) as unknown[]]
      if (!listed.has(method)) throw new Refusal(-32601)
      const result = method === 'eth_getLogs' ? await logs(params) : await node(method, params)
      const served = habits.result ? habits.result(method, result, params) : result
      // Of the two, the id alone may have more digits than a double.
      return { status: 200, body: `{"jsonrpc":"2.0","id":${stringify(id)},"result":${JSON.stringify(served)}}` }
    } catch (thrown) {
      return error(thrown instanceof Refusal ? thrown.code : -32700, id)
    }
  }

  return serve((request, response, body) => {
    if (request.url !== '/api/eth-rpc' || request.method !== 'POST') return response.writeHead(404).end()
    void respond(body).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    )
  })
}

/** Clauses that failed, and required ones that could not be tested. */
function blamed({ clauses }: Report): string[] {
  return clauses
    .filter(({ level, status }) => status === 'failed' || (level === 'required' && status === 'untestable'))
    .map(({ id, status, tests }) => {
      const why = tests.map(
        ({ title, error, reason }) => (error && `${title}: ${error.message}, ${error.actual}`) || reason,
      )
      return `${id} ${status}: ${why.filter(Boolean).join(' | ')}`
    })
}

function requiredBlame(report: Report): string[] {
  const required = report.clauses.filter(({ level }) => level === 'required')
  return blamed({ ...report, clauses: required })
}

function failed({ clauses }: Report): string[] {
  return clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
}

describe('eth-rpc targets that do otherwise what the document leaves open', function () {
  // anvil is the fastest node, and these servers ask it for thousands of logs again and again.
  let chain: Awaited<ReturnType<typeof startAnvil>> & { readonly fixture: Fixture }

  before(async () => {
    const anvil = await startAnvil()
    chain = { ...anvil, fixture: await provisionOn(anvil.rpcUrl) }
  })
  after(() => chain.close())

  async function judge(habits: StrangerHabits, options: Partial<Parameters<typeof check>[0]> = {}): Promise<Report> {
    await using stranger = await startStranger(chain.rpcUrl, habits)
    // `await` keeps the stranger alive until the check is done.
    return await check({ relayUrl: null, ethRpcUrl: stranger.url, fixture: chain.fixture, ...options })
  }

  const observation = ({ clauses }: Report, id: string) => clauses.find((clause) => clause.id === id)?.observation

  it('pages by keys in the second parameter, with a third key', async () => {
    const report = await judge({ keys: 'second parameter', thirdKeyRequired: true })
    expect(requiredBlame(report)).to.deep.equal([])
    const third = observation(report, 'eth-rpc.eth_getLogs.third-key')
    expect(third)
      .to.contain('taken in the second parameter')
      .and.to.match(/blockNumber alone: 200 .*-32602/)
    expect(third).to.contain('as a third: the next page')
  })

  it('pages by keys in the filter itself, 300 entries at a time', async () => {
    const report = await judge({ keys: 'filter', pageSize: 300 })
    expect(requiredBlame(report)).to.deep.equal([])
    // A page of fewer than 1000 entries that is not the last breaks a recommended clause alone.
    expect(blamed(report).map((text) => text.split(' ')[0])).to.include('eth-rpc.eth_getLogs.walk-ends')
  })

  for (const pageSize of [1, 7]) {
    it(`pages by ${pageSize} entries`, async () => {
      const report = await judge({ pageSize }, { only: 'eth-rpc.eth_getLogs' })
      expect(requiredBlame(report)).to.deep.equal([])
      expect(report.traffic.requests).to.be.below(2000)
    })
  }

  it('pages in a way that nobody knows, until the way is told', async () => {
    const only = 'eth-rpc.eth_getLogs'
    const untold = await judge({ keys: 'onward' }, { only })
    expect(untold.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')).to.deep.equal([])
    const [next] = untold.clauses.filter(({ id }) => id === 'eth-rpc.eth_getLogs.next-page')
    expect(next?.status).to.equal('untestable')
    expect(next?.tests[0]?.reason).to.match(/tried paging_options, second, filter.*--paging/)

    expect(requiredBlame(await judge({ keys: 'onward' }, { only, paging: 'onward' }))).to.deep.equal([])
    const third = { keys: 'onward', thirdKeyRequired: true } as const
    expect(requiredBlame(await judge(third, { only, paging: 'onward:transactionIndex' }))).to.deep.equal([])
    expect(requiredBlame(await judge(third, { only, paging: 'onward' })).join()).to.match(
      /next-page failed.*reads the keys/,
    )
  })

  it('is blamed for keys that it reads and does not follow', async () => {
    const only = 'eth-rpc.eth_getLogs'
    for (const nextPage of ['the first again', 'any topics'] as const) {
      const [blame, ...others] = requiredBlame(await judge({ nextPage }, { only })).filter((text) =>
        text.includes(' failed'),
      )
      expect(blame).to.match(/^eth-rpc.eth_getLogs.next-page failed/)
      expect(others).to.deep.equal([])
    }
  })

  it('is judged with a fixture of an earlier version, which says what was not seen', async () => {
    const { emitter, fromBlock, toBlock, count } = chain.fixture.logs
    const earlier = { ...chain.fixture, transactions: {}, logs: { emitter, fromBlock, toBlock, count } }
    const report = await judge({}, { fixture: earlier })
    expect(requiredBlame(report)).to.deep.equal([])
    expect(report.verdict).to.equal('passed')
    expect(observation(report, 'eth-rpc.eth_getLogs.success')).to.contain('more than 1 kB of data')
  })

  it('refuses a valid request now and then', async () => {
    let count = 0
    const report = await judge({
      result: (_method, value) => {
        count += 1
        if (count % 12 === 0) throw new Refusal(-32603)
        return value
      },
    })
    expect(requiredBlame(report).join()).to.contain('the target refuses valid requests now and then')
  })

  it('refuses wide ranges', async () => {
    expect(requiredBlame(await judge({ maxBlocks: 4 }))).to.deep.equal([])
  })

  it('answers errors with HTTP 400 and plain text', async () => {
    expect(requiredBlame(await judge({ error: () => ({ status: 400, body: 'bad request' }) }))).to.deep.equal([])
  })

  it('writes numbers with leading zeros and hex in capitals, fills topics and adds members', async () => {
    const loud = (value: unknown): unknown => {
      if (typeof value === 'string') return value.replace(/^0x(.*)$/, (_all, hex: string) => `0x${hex.toUpperCase()}`)
      if (Array.isArray(value)) return value.map(loud)
      if (typeof value !== 'object' || value === null) return value
      const members = Object.entries(value).map(([name, member]) => [name, loud(member)] as const)
      const { topics } = value as { topics?: unknown[] }
      return { ...Object.fromEntries(members), ...(topics ? { topics: [...topics, null] } : {}), timeStamp: '0x0' }
    }
    const result = (_method: string, value: unknown) =>
      typeof value === 'string' ? value.replace(/^0x/, '0x00') : loud(value)
    expect(requiredBlame(await judge({ result }))).to.deep.equal([])
  })

  it('is a few seconds behind with young blocks', async () => {
    // The second look at a thing finds it.
    const seen = new Set<string>()
    const report = await judge({
      result: (method, value, params) => {
        const key = `${method} ${JSON.stringify(params)}`
        if (seen.has(key) || !method.startsWith('eth_getTransaction')) return value
        seen.add(key)
        return null
      },
    })
    expect(requiredBlame(report)).to.deep.equal([])
  })

  it('is not blamed for the chain’s node being away, nor for a missing fixture', async () => {
    const away = await judge({}, { rpcUrl: 'http://127.0.0.1:1' })
    const failed = away.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')
    expect(failed).to.deep.equal([])
    expect(away.clauses.find(({ id }) => id === 'eth-rpc.types.block-number')?.status).to.equal('untestable')
    expect(away.clauses.find(({ id }) => id === 'eth-rpc.eth_chainId.success')?.status).to.equal('passed')

    await using stranger = await startStranger(chain.rpcUrl)
    const bare = await check({ relayUrl: null, ethRpcUrl: stranger.url })
    expect(bare.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')).to.deep.equal([])
    expect(bare.clauses.find(({ id }) => id === 'eth-rpc.eth_getLogs.next-page')?.status).to.equal('untestable')
    expect(bare.clauses.find(({ id }) => id === 'eth-rpc.types.hash')?.status).to.equal('passed')
  })

  it('is not blamed in a run by its URL alone for what it knows nothing of', async () => {
    await using stranger = await startStranger(chain.rpcUrl, {
      refusesFilter: ({ address }) => address === undefined,
      result(method, result) {
        if (method === 'eth_getBalance' && result === '0x0') throw new Refusal(-32000)
        // As on a chain without base fees.
        if (method === 'eth_maxPriorityFeePerGas') throw new Refusal(-32601)
        return result
      },
    })
    const bare = await check({ relayUrl: null, ethRpcUrl: stranger.url })
    expect(bare.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')).to.deep.equal([])
    for (const id of ['eth-rpc.eth_getBalance.success', 'eth-rpc.eth_maxPriorityFeePerGas.success']) {
      expect(bare.clauses.find((clause) => clause.id === id)?.status, id).to.equal('untestable')
    }
  })

  it('is blamed for keys that must not be written as in the entry', async () => {
    const report = await judge({ spelling: 'bare' })
    const failed = report.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')
    expect(failed.map(({ id }) => id)).to.deep.equal(['eth-rpc.eth_getLogs.page-keys-verbatim'])
  })

  it('is blamed for refusing what has more than a page', async () => {
    const report = await judge({ refusesMoreThan: 1000 })
    const failed = report.clauses.filter(({ level, status }) => level === 'required' && status === 'failed')
    expect(failed.map(({ id }) => id)).to.deep.equal(['eth-rpc.eth_getLogs.next-page'])
    expect(report.verdict).to.equal('nonconformant')
  })

  it('is the service that the document was written of', async () => {
    const bareHex = (log: Readonly<Record<string, unknown>>) => ({
      ...log,
      ...Object.fromEntries(
        ['blockNumber', 'logIndex', 'transactionIndex'].map((name) => [name, String(log[name]).slice(2)]),
      ),
      topics: [...(log['topics'] as unknown[]), null, null, null].slice(0, 4),
      timeStamp: '65a1b2c3',
    })
    const report = await judge({
      thirdKeyRequired: true,
      refusesFilter: ({ address, topics }) =>
        Array.isArray(address) || (address === undefined && !(Array.isArray(topics) && topics.length > 0)),
      error: (_code, id) => ({ status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, error: 'Invalid request' }) }),
      result: (method, value) => (method === 'eth_getLogs' ? (value as Record<string, unknown>[]).map(bareHex) : value),
    })
    expect(requiredBlame(report)).to.deep.equal([])
    expect(report.verdict).to.equal('passed')
    expect(failed(report)).to.include.members([
      'eth-rpc.eth_getLogs.filter-fields',
      'eth-rpc.eth_getLogs.result-schema',
      'eth-rpc.response.error-object',
      'eth-rpc.response.error-codes',
    ])
  })

  it('stands on a chain whose head moves all the time', async () => {
    const provider = new JsonRpcProvider(chain.rpcUrl)
    const mined = setInterval(() => void provider.send('evm_mine', []), 15)
    try {
      expect(requiredBlame(await judge({}))).to.deep.equal([])
    } finally {
      clearInterval(mined)
      provider.destroy()
    }
  })
})

describe('nodes that are put at the path of the document as they are', function () {
  /** Every node serves more than the listed methods, and none pages. */
  const causes = ['eth-rpc.methods.unlisted-refused', 'eth-rpc.eth_getLogs.max-1000']

  async function judgeNode(rpcUrl: string, fixture: Fixture): Promise<Report> {
    await using node = await serve((request, response, body) => {
      if (request.url !== '/api/eth-rpc') return response.writeHead(404).end()
      void fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
        async (answer) =>
          response
            .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
            .end(await answer.text()),
        () => response.destroy(),
      )
    })
    // `await` keeps the proxy alive until the check is done.
    return await check({ relayUrl: null, ethRpcUrl: node.url, fixture })
  }

  function expectCauses(report: Report, ...own: readonly string[]): void {
    const required = report.clauses.filter(({ level }) => level === 'required')
    expect(failed({ ...report, clauses: required })).to.have.members([...causes, ...own])
    // An untestable clause names one of these causes.
    for (const { id, tests } of required.filter(({ status }) => status === 'untestable')) {
      expect(tests.map(({ because }) => because).filter(Boolean), id).to.include('eth-rpc.eth_getLogs.max-1000')
    }
  }

  it('Hardhat', async () => {
    const chain = await startProvisionedChain()
    try {
      // This node reads ids as doubles, and changes ids beyond 2^53.
      expectCauses(await judgeNode(chain.rpcUrl, chain.fixture), 'eth-rpc.envelope.id-integer')
    } finally {
      await chain.close()
    }
  })

  it('anvil', async () => {
    const anvil = await startAnvil()
    try {
      expectCauses(await judgeNode(anvil.rpcUrl, await provisionOn(anvil.rpcUrl)))
    } finally {
      await anvil.close()
    }
  })

  it('ganache', async () => {
    const ganache = await startGanache()
    try {
      // ganache reads ids as doubles as well.
      expectCauses(await judgeNode(ganache.rpcUrl, await provisionOn(ganache.rpcUrl)), 'eth-rpc.envelope.id-integer')
    } finally {
      await ganache.close()
    }
  })
})
