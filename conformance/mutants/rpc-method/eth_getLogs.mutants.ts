import { defineMutant, type Forward, mapResponses } from '../../altered/define.ts'
import { alterFilter, alterResult, filterOf, headOf, type RpcBody, sharedAtOnce } from '../../altered/lib/rpc.ts'

type Log = Readonly<Record<string, unknown>>

/** The index of the log among those of its transaction, as far as the answer shows them. */
function placeInTransaction(logs: readonly Log[], log: Log): string {
  const first = logs.find(({ transactionHash }) => transactionHash === log['transactionHash'])
  return `0x${(Number(log['logIndex']) - Number(first?.['logIndex'])).toString(16)}`
}

/** Selects nothing for some filters. */
function nothingFor(isMeant: (filter: Log) => boolean) {
  return alterResult('eth_getLogs', (logs, body) => (isMeant(filterOf(body) ?? {}) ? [] : logs))
}

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    fault: 'the second log is left out where there are several',
    rpc: alterResult('eth_getLogs', (logs) =>
      Array.isArray(logs) && logs.length > 1 && logs.length < 1000 ? logs.filter((_log, index) => index !== 1) : logs,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'data',
    fault: 'logs with altered data',
    rpc: alterResult('eth_getLogs', (logs) =>
      (logs as Record<string, unknown>[]).map((log) => ({ ...log, data: `${String(log['data'])}00` })),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'open-range',
    fault: 'the last block of a range is left out of it',
    rpc: alterFilter((filter) => {
      const { fromBlock, toBlock } = filter
      if (!String(toBlock).startsWith('0x') || fromBlock === toBlock) return filter
      return { ...filter, toBlock: `0x${(BigInt(String(toBlock)) - 1n).toString(16)}` }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    fault: 'topics beyond the first are ignored',
    rpc: alterFilter(({ topics, ...others }) => ({
      ...others,
      topics: Array.isArray(topics) ? (topics as unknown[]).slice(0, 1) : topics,
    })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'addresses',
    fault: 'of several addresses only the first counts',
    rpc: alterFilter(({ address, ...others }) => ({
      ...others,
      address: Array.isArray(address) ? (address as unknown[])[0] : address,
    })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.order',
    fault: 'the first two entries of a page change places',
    rpc: alterResult('eth_getLogs', (logs) => {
      if (!Array.isArray(logs) || logs.length < 1000) return logs
      const [first, second, ...others] = logs as unknown[]
      return [second, first, ...others]
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.result-schema',
    fault: 'the index of the transaction is a JSON number',
    rpc: alterResult('eth_getLogs', (logs) =>
      (logs as Record<string, unknown>[]).map((log) => ({ ...log, transactionIndex: Number(log['transactionIndex']) })),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.result-schema',
    name: 'null-for-nothing',
    fault: 'null instead of an empty list',
    rpc: alterResult('eth_getLogs', (logs) => (Array.isArray(logs) && logs.length === 0 ? null : logs)),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.bad-params',
    fault: 'topics that are no list are left out of the filter',
    rpc: alterFilter(({ topics, ...others }) => ({
      ...others,
      topics: Array.isArray(topics) ? topics : undefined,
    })),
  }),

  ...(
    [
      [
        'large-index',
        'an index beyond 255 loses its upper digits',
        (log) => ({ ...log, logIndex: `0x${(Number(log['logIndex']) & 0xff).toString(16)}` }),
      ],
      [
        'index-beyond-1000',
        'an index beyond 1000 is counted anew',
        (log) => ({ ...log, logIndex: `0x${(Number(log['logIndex']) % 1000).toString(16)}` }),
      ],
      [
        'long-data',
        'data of more than a kilobyte is cut',
        (log) => ({ ...log, data: String(log['data']).slice(0, 2 + 2 * 1024) }),
      ],
      [
        'four-topics',
        'the fourth topic is left out',
        (log) => ({ ...log, topics: (log['topics'] as unknown[]).slice(0, 3) }),
      ],
      ['transaction', 'logs of another transaction', (log) => ({ ...log, transactionHash: log['blockHash'] })],
      [
        'first-transaction',
        'every entry is said to be of the first transaction of its block',
        (log) => ({ ...log, transactionIndex: '0x0' }),
      ],
      ['block-hash', 'logs of another block', (log) => ({ ...log, blockHash: log['transactionHash'] })],
      ['removed', 'every entry is said to be removed', (log) => ({ ...log, removed: true })],
      [
        'topics-backwards',
        'the topics stand in reverse',
        (log) => ({ ...log, topics: (log['topics'] as unknown[]).toReversed() }),
      ],
      ['address', 'logs of another address', (log) => ({ ...log, address: `0x${'22'.repeat(20)}` })],
    ] as const satisfies readonly (readonly [string, string, (log: Log) => Log])[]
  ).map(([name, fault, alter]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.success',
      name,
      fault,
      rpc: alterResult('eth_getLogs', (logs) =>
        Array.isArray(logs) ? (logs as Log[]).map((log): Log => alter(log)) : logs,
      ),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'earliest-is-latest',
    fault: '"earliest" as fromBlock is taken for the latest block',
    rpc: alterFilter((filter) => (filter['fromBlock'] === 'earliest' ? { ...filter, fromBlock: 'latest' } : filter)),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'no-end-is-the-beginning',
    fault: 'a range that names no last block ends with its first one',
    rpc: alterFilter((filter) => ({ toBlock: filter['fromBlock'], ...filter })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'any-address',
    fault: 'the address is ignored',
    rpc: alterFilter(({ address: _address, ...filter }) => filter),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'repeats',
    fault: 'the first entry stands there twice',
    rpc: alterResult('eth_getLogs', (logs) =>
      Array.isArray(logs) && logs.length > 1 && logs.length < 1000
        ? [logs[0] as unknown, ...(logs as unknown[])]
        : logs,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'wildcard',
    fault: 'null among the topics selects nothing',
    rpc: async (request, forward) => {
      const response = await forward(request)
      const topics = filterOf((request.json ?? {}) as RpcBody)?.['topics']
      const hasNull = Array.isArray(topics) && topics.some((topic) => topic === null)
      return hasNull ? mapResponses(response, (answer) => ({ ...answer, result: [] })) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'to-latest',
    fault: 'a range up to "latest" selects nothing',
    rpc: alterResult('eth_getLogs', (logs, body) => (filterOf(body)?.['toBlock'] === 'latest' ? [] : logs)),
  }),

  ...(
    [
      [
        'no-topics',
        'logs without topics are left out',
        (logs) => logs.filter(({ topics }) => (topics as unknown[]).length > 0),
      ],
      [
        'alike',
        'of blank logs of a transaction, which are alike in all but their place, only the first is found',
        (logs) => logs.filter(({ topics, logIndex }) => (topics as unknown[]).length > 0 || logIndex === '0x0'),
      ],
      [
        'index-of-the-transaction',
        'the logs of each transaction are counted from zero',
        (logs) => logs.map((log) => ({ ...log, logIndex: placeInTransaction(logs, log) })),
      ],
    ] as const satisfies readonly (readonly [string, string, (logs: readonly Log[]) => readonly Log[]])[]
  ).map(([name, fault, alter]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.success',
      name,
      fault,
      rpc: alterResult('eth_getLogs', (logs) => (Array.isArray(logs) ? alter(logs as Log[]) : logs)),
    }),
  ),

  ...(
    [
      [
        'small-letters',
        'an address in small letters has no logs',
        ({ address }) => typeof address === 'string' && address === address.toLowerCase(),
      ],
      [
        'checksum',
        'an address with its checksum has no logs',
        ({ address }) => typeof address === 'string' && address !== address.toLowerCase(),
      ],
      [
        'earliest-to-latest',
        'a range from "earliest" to "latest" selects nothing',
        ({ fromBlock, toBlock }) => fromBlock === 'earliest' && toBlock === 'latest',
      ],
    ] as const satisfies readonly (readonly [string, string, (filter: Log) => boolean])[]
  ).map(([name, fault, isMeant]) =>
    defineMutant({ clause: 'eth-rpc.eth_getLogs.success', name, fault, rpc: nothingFor(isMeant) }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'kept',
    fault: 'what was answered to a filter is answered ever after',
    whole: true,
    rpc: (request, forward, tools) =>
      alterResult('eth_getLogs', (logs, body) => {
        const key = JSON.stringify(filterOf(body))
        if (!tools.memory.has(key)) tools.memory.set(key, logs)
        return tools.memory.get(key)
      })(request, forward, tools),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'beyond-the-head',
    fault: 'a range that ends beyond the head selects nothing',
    async rpc(request, forward, tools) {
      const head = await headOf(tools)
      return nothingFor(({ toBlock }) => /^0x/.test(String(toBlock)) && BigInt(String(toBlock)) > head)(
        request,
        forward,
        tools,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'from-latest',
    fault: 'a range from "latest" selects nothing',
    whole: true,
    rpc: nothingFor(({ fromBlock }) => fromBlock === 'latest'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'first-transaction-by-hash',
    fault: 'of a block by its hash only the logs of the first transaction are found',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      if (filterOf(body)?.['blockHash'] === undefined) return logs
      return (logs as readonly Log[]).filter(({ transactionIndex }) => transactionIndex === '0x0')
    }),
  }),

  ...(
    [
      [
        'first-alternative',
        'of alternatives only the first counts',
        (topic) => (Array.isArray(topic) ? (topic as unknown[])[0] : topic),
      ],
      [
        'last-alternative',
        'of alternatives only the last counts',
        (topic) => (Array.isArray(topic) ? (topic as unknown[]).at(-1) : topic),
      ],
    ] as const satisfies readonly (readonly [string, string, (topic: unknown) => unknown])[]
  ).map(([name, fault, alter]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.filter-fields',
      name,
      fault: `${fault}, at the first position of the topics`,
      rpc: alterFilter((filter) => {
        const [first, ...rest] = Array.isArray(filter['topics']) ? (filter['topics'] as unknown[]) : []
        return first === undefined ? filter : { ...filter, topics: [alter(first), ...rest] }
      }),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'third-topic',
    fault: 'topics beyond the second are ignored',
    rpc: alterFilter(({ topics, ...others }) => ({
      ...others,
      topics: Array.isArray(topics) ? (topics as unknown[]).slice(0, 2) : topics,
    })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'topics-after-the-cut',
    fault: 'the page is cut before the topics select from it',
    async rpc(request, forward, tools) {
      const { topics } = filterOf((request.json ?? {}) as RpcBody) ?? {}
      if (!Array.isArray(topics)) return forward(request)
      const cut: Forward = (asked) => alterFilter(({ topics: _topics, ...filter }) => filter)(asked, forward, tools)
      return alterResult('eth_getLogs', (logs) =>
        (logs as Log[]).filter((log) =>
          (topics as unknown[]).every((want, place) => {
            const found = (log['topics'] as unknown[])[place]
            return want === null ? found !== undefined : Array.isArray(want) ? want.includes(found) : want === found
          }),
        ),
      )(request, cut, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.success',
    name: 'shared-at-once',
    fault: 'requests for logs at the same time get the logs of the first',
    rpc: sharedAtOnce('eth_getLogs'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.filter-fields',
    name: 'turned-round',
    fault: 'a range that ends before it begins is turned round',
    rpc: alterFilter((filter) => {
      const { fromBlock, toBlock } = filter
      const isRange = [fromBlock, toBlock].every((block) => /^0x[0-9a-f]+$/i.test(String(block)))
      const isTurned = isRange && BigInt(String(fromBlock)) > BigInt(String(toBlock))
      return isTurned ? { ...filter, fromBlock: toBlock, toBlock: fromBlock } : filter
    }),
  }),
]
