import { getAddress } from 'ethers'
import type { ClauseId } from '../../../specs/index.ts'
import { defineLawful, mapResponses, type Forward, type Lawful, withJson } from '../../altered/define.ts'
import { entriesAs, refusesFilters, type Members } from '../../altered/lib/logs.ts'
import {
  alterFilter,
  alterPaging,
  alterResult,
  filterOf,
  headOf,
  pagingOf,
  refuse,
  type RpcBody,
} from '../../altered/lib/rpc.ts'

const fields = 'eth-rpc 2: "Fields of the filter object of eth_getLogs: not shown"'
const results = 'eth-rpc 2: "Response envelope and result fields of each method: not shown"'

const clauses: Lawful['clauses'] = ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.next-page']
const mayFail: readonly ClauseId[] = ['eth-rpc.eth_getLogs.result-schema', 'eth-rpc.eth_getLogs.page-keys-bare-hex']

const quantities = ['blockNumber', 'logIndex', 'transactionIndex']

/** Writes the quantities of an entry in another form. */
function quantitiesAs(form: (hex: string) => unknown, names = quantities): (entry: Members) => Members {
  return (entry) => ({ ...entry, ...Object.fromEntries(names.map((name) => [name, form(String(entry[name]))])) })
}

function without(...names: readonly string[]): (entry: Members) => Members {
  return (entry) => Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function blockOf(value: unknown): number {
  return /^0x[0-9a-f]+$/i.test(String(value)) ? Number(value) : NaN
}

export default [
  defineLawful({
    id: 'wants-an-address-or-topics',
    clauses,
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields'],
    rpc: refusesFilters(
      'Must supply one of address and topics',
      ({ address, topics }) => isEmpty(address) && isEmpty(topics),
    ),
  }),
  defineLawful({
    id: 'wants-an-address',
    clauses,
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields'],
    rpc: refusesFilters('an address is needed', ({ address }) => isEmpty(address)),
  }),
  defineLawful({
    id: 'takes-one-address-alone',
    clauses,
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields'],
    rpc: refusesFilters('one address at a time', ({ address }) => Array.isArray(address)),
  }),
  defineLawful({
    id: 'wants-both-ends-of-a-range',
    clauses,
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.clients'],
    rpc: refusesFilters('fromBlock and toBlock are needed', ({ fromBlock, toBlock }) => !fromBlock || !toBlock),
  }),
  defineLawful({
    id: 'knows-no-block-hash',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.max-1000'],
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields'],
    rpc: refusesFilters('blockHash is not known', ({ blockHash }) => blockHash !== undefined),
  }),
  defineLawful({
    id: 'knows-no-topics',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.filter-fields'],
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.clients'],
    rpc: refusesFilters('topics are not known', ({ topics }) => topics !== undefined),
  }),
  defineLawful({
    id: 'takes-one-topic-alone',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.filter-fields'],
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields'],
    rpc: refusesFilters(
      'one topic, and no alternatives',
      ({ topics }) => Array.isArray(topics) && (topics.length > 1 || topics.some((topic) => Array.isArray(topic))),
    ),
  }),
  defineLawful({
    id: 'takes-narrow-ranges-alone',
    clauses,
    allowedBy: 'eth-rpc 2 and 8: how wide a range may be is not shown',
    mayFail: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.eth_getLogs.walk-ends'],
    rpc: refusesFilters('at most four blocks', ({ fromBlock, toBlock }) => blockOf(toBlock) - blockOf(fromBlock) >= 4),
  }),
  defineLawful({
    id: 'takes-one-block-at-a-time-in-filters',
    clauses,
    allowedBy: 'eth-rpc 2 and 8: how wide a range may be is not shown',
    mayFail: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.eth_getLogs.walk-ends'],
    untestable: ['eth-rpc.eth_getLogs.next-page', 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    rpc: refusesFilters('one block at a time', ({ fromBlock, toBlock }) => fromBlock !== toBlock),
  }),
  defineLawful({
    id: 'takes-block-numbers-alone-in-filters',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.clients'],
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.clients'],
    rpc: refusesFilters('block numbers are needed', ({ fromBlock, toBlock }) =>
      [fromBlock, toBlock].some((block) => /^[a-z]+$/.test(String(block)) && block !== undefined && block !== 'latest'),
    ),
  }),
  defineLawful({
    id: 'ignores-unknown-fields-of-the-filter',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.bad-params'],
    allowedBy: fields,
    mayFail: ['eth-rpc.eth_getLogs.bad-params'],
    rpc: alterFilter((filter) =>
      Object.fromEntries(
        Object.entries(filter).filter(([name]) =>
          ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash', 'paging_options'].includes(name),
        ),
      ),
    ),
  }),

  defineLawful({
    id: 'writes-entries-in-bare-hex',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    allowedBy: 'eth-rpc 2: the keys are "hex strings" "taken from the last log entry"',
    mayFail,
    rpc: entriesAs(quantitiesAs((hex) => hex.slice(2))),
  }),
  defineLawful({
    id: 'writes-entries-in-bare-hex-of-capitals',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    allowedBy: 'eth-rpc 2: the keys are "hex strings" "taken from the last log entry"',
    mayFail,
    rpc: entriesAs(quantitiesAs((hex) => hex.slice(2).toUpperCase())),
  }),
  defineLawful({
    id: 'writes-entries-in-capitals',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    allowedBy: results,
    mayFail,
    rpc: entriesAs((entry) => ({
      ...quantitiesAs((hex) => `0x${hex.slice(2).toUpperCase()}`)(entry),
      ...quantitiesAs(
        (hex) => `0x${hex.slice(2).toUpperCase()}`,
        ['blockHash', 'transactionHash', 'address', 'data'],
      )(entry),
    })),
  }),
  defineLawful({
    id: 'pads-the-numbers-of-entries',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    allowedBy: results,
    mayFail,
    rpc: entriesAs(quantitiesAs((hex) => `0x${hex.slice(2).padStart(16, '0')}`)),
  }),
  defineLawful({
    id: 'adds-members-to-entries',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs((entry, index) => ({ place: index, timeStamp: '0x1', ...entry, decoded: null, type: 'mined' })),
  }),
  defineLawful({
    id: 'omits-members-of-entries',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs(without('transactionIndex', 'removed', 'blockHash')),
  }),
  defineLawful({
    id: 'fills-topics-up-with-null',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs((entry) => ({
      ...entry,
      topics: [...(entry['topics'] as unknown[]), null, null, null, null].slice(0, 4),
    })),
  }),
  defineLawful({
    id: 'shuffles-the-entries-of-a-page-but-the-last',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.order', 'eth-rpc.eth_getLogs.next-page'],
    allowedBy: 'eth-rpc 8: the order of entries is not shown; the last one is where the next page begins',
    mayFail: ['eth-rpc.eth_getLogs.order', 'eth-rpc.eth_getLogs.filter-fields'],
    async rpc(request, forward) {
      const response = await forward(request)
      if (!filterOf((request.json ?? {}) as RpcBody)) return response
      return mapResponses(response, (answer) => {
        const { result } = answer
        if (!Array.isArray(result) || result.length < 3) return answer
        return { ...answer, result: [...(result as unknown[]).slice(0, -1).toReversed(), result.at(-1) as unknown] }
      })
    },
  }),
  defineLawful({
    id: 'names-no-logs-in-the-fixture',
    clauses: ['eth-rpc.eth_getLogs.success'],
    allowedBy: 'eth-rpc 4: a chain may have few logs',
    untestable: [
      'eth-rpc.eth_getLogs.max-1000',
      'eth-rpc.eth_getLogs.next-page',
      'eth-rpc.eth_getLogs.page-keys-verbatim',
      'eth-rpc.eth_getLogs.success',
    ],
    environment: { chain: { withoutLogs: true } },
  }),
  defineLawful({
    id: 'refuses-a-range-that-ends-before-it-begins',
    clauses: ['eth-rpc.eth_getLogs.success'],
    allowedBy: fields,
    rpc: refuse(-32000, (body) => {
      const { fromBlock, toBlock } = filterOf(body) ?? {}
      return blockOf(toBlock) < blockOf(fromBlock)
    }),
  }),
  defineLawful({
    id: 'has-null-for-no-logs',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema', 'eth-rpc.eth_getLogs.walk-ends'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema', 'eth-rpc.eth_getLogs.walk-ends'],
    rpc: alterResult('eth_getLogs', (logs) => (Array.isArray(logs) && logs.length === 0 ? null : logs)),
  }),
  defineLawful({
    id: 'shuffles-what-fits-into-one-page',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.order', 'eth-rpc.eth_getLogs.filter-fields'],
    allowedBy: 'eth-rpc 8: the order of entries is not shown',
    mayFail: ['eth-rpc.eth_getLogs.order'],
    rpc: alterResult('eth_getLogs', (logs, body) => {
      if (!Array.isArray(logs) || logs.length >= 1000 || pagingOf(body)) return logs
      const [first, ...others] = logs as unknown[]
      return first === undefined ? [] : [...others.toReversed(), first]
    }),
  }),
  defineLawful({
    id: 'knows-no-tags-in-filters',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.endpoint.standard-format', 'eth-rpc.eth_getLogs.bad-params'],
    allowedBy: fields,
    mayFail: ['eth-rpc.clients'],
    rpc: refusesFilters('block numbers are needed', ({ fromBlock, toBlock }) =>
      [fromBlock, toBlock].some((block) => /^[a-z]+$/.test(String(block)) && block !== undefined),
    ),
  }),
  defineLawful({
    id: 'writes-entries-with-json-integers',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    // Debatable: "values are hex strings" is said of the keys that the client sends; of entries nothing is shown.
    allowedBy: results,
    mayFail,
    async rpc(request, forward, tools) {
      const keys = pagingOf((request.json ?? {}) as RpcBody)
      const isRefused = keys && Object.values(keys).some((key) => typeof key !== 'string')
      const answer = isRefused ? refuse(-32602, () => true) : entriesAs(quantitiesAs((hex) => Number(hex)))
      return answer(request, forward, tools)
    },
  }),
  defineLawful({
    id: 'takes-json-integers-as-keys-too',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-verbatim'],
    allowedBy: results,
    mayFail,
    async rpc(request, forward, tools) {
      const inHex = alterPaging((keys) =>
        Object.fromEntries(
          Object.entries(keys).map(([key, value]) => [
            key,
            typeof value === 'number' ? `0x${value.toString(16)}` : value,
          ]),
        ),
      )
      const forwardHex: Forward = (asked) => inHex(asked, forward, tools)
      return entriesAs(quantitiesAs((hex) => Number(hex)))(request, forwardHex, tools)
    },
  }),
  defineLawful({
    id: 'writes-the-hashes-of-entries-without-0x',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: 'eth-rpc 2: Data is a "hex-encoded byte string"; whether 0x stands before it is not shown',
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs((entry) => ({
      ...quantitiesAs((hex) => hex.slice(2), ['blockHash', 'transactionHash', 'address', 'data'])(entry),
      topics: (entry['topics'] as string[]).map((topic) => topic.slice(2)),
    })),
  }),
  defineLawful({
    id: 'writes-addresses-of-entries-with-checksums',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs((entry) => ({ ...entry, address: getAddress(String(entry['address'])) })),
  }),
  defineLawful({
    id: 'writes-null-for-no-topics',
    clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.result-schema'],
    allowedBy: results,
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    rpc: entriesAs((entry) => ({ ...entry, topics: isEmpty(entry['topics']) ? null : entry['topics'] })),
  }),
  ...(
    [
      ['refuses-ranges-that-end-beyond-the-head', refuse(-32000, () => true)],
      ['has-null-for-ranges-that-end-beyond-the-head', alterResult('eth_getLogs', () => null)],
    ] as const
  ).map(([id, answer]) =>
    defineLawful({
      id,
      clauses: ['eth-rpc.eth_getLogs.filter-fields', 'eth-rpc.eth_getLogs.success'],
      allowedBy: fields,
      async rpc(request, forward, tools) {
        const { toBlock } = filterOf((request.json ?? {}) as RpcBody) ?? {}
        const isBeyond = blockOf(toBlock) > Number(await headOf(tools))
        return (isBeyond ? answer : forward)(request, forward, tools)
      },
    }),
  ),
  defineLawful({
    id: 'errs-after-the-last-entry',
    clauses: ['eth-rpc.eth_getLogs.next-page', 'eth-rpc.eth_getLogs.walk-ends'],
    allowedBy: 'eth-rpc 8: "when more entries exist": what comes after the last one is not shown',
    mayFail: ['eth-rpc.eth_getLogs.walk-ends'],
    rpc: async (request, forward, tools) => {
      const response = await forward(request)
      const { result } = (response.json ?? {}) as { result?: unknown }
      const isEnd = pagingOf((request.json ?? {}) as RpcBody) && Array.isArray(result) && result.length === 0
      return isEnd ? refuse(-32000, () => true)(request, forward, tools) : response
    },
  }),
  defineLawful({
    id: 'begins-again-after-the-last-entry',
    clauses: ['eth-rpc.eth_getLogs.next-page', 'eth-rpc.eth_getLogs.walk-ends'],
    // Debatable: a client that asks on after a short page walks for ever.
    allowedBy: 'eth-rpc 8: "when more entries exist": what comes after the last one is not shown',
    mayFail: ['eth-rpc.eth_getLogs.walk-ends'],
    rpc: async (request, forward) => {
      const response = await forward(request)
      const body = (request.json ?? {}) as RpcBody
      const { result } = (response.json ?? {}) as { result?: unknown }
      const isEnd = pagingOf(body) && Array.isArray(result) && result.length === 0
      if (!isEnd) return response
      return forward(withJson(request, { ...body, params: [{ ...filterOf(body), paging_options: undefined }] }))
    },
  }),
]
