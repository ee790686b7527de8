import type { ClauseId } from '../../../specs/index.ts'
import { defineLawful, mapResponses, respond, type Handler, type Lawful } from '../../altered/define.ts'
import { keysIn, pagesBy, pagesOf } from '../../altered/lib/logs.ts'
import { filterOf, pagingOf, type RpcBody } from '../../altered/lib/rpc.ts'

const clauses: Lawful['clauses'] = [
  'eth-rpc.eth_getLogs.next-page',
  'eth-rpc.eth_getLogs.page-keys-verbatim',
  'eth-rpc.eth_getLogs.max-1000',
  'eth-rpc.eth_getLogs.success',
]
const unknownWay: readonly ClauseId[] = ['eth-rpc.eth_getLogs.next-page', 'eth-rpc.eth_getLogs.page-keys-verbatim']
const short = 'eth-rpc 4: "Never returns more than 1000 log entries": fewer is allowed'
const options = 'eth-rpc 8: "pagination options holding logIndex and blockNumber": where they stand is not shown'
const third = 'eth-rpc 8: "Three pagination parameters are required; the third one is not shown"'

/** The recommended clauses that a server breaks whose pages are cut short. */
const shortMayFail: readonly ClauseId[] = [
  'eth-rpc.eth_getLogs.walk-ends',
  'eth-rpc.eth_getLogs.filter-fields',
  'eth-rpc.eth_getLogs.order',
]

function pagesOfSize(id: string, size: (turn: number) => number): Lawful {
  return defineLawful({ id, clauses, allowedBy: short, mayFail: shortMayFail, rpc: pagesOf(size) })
}

const isBare = (key: string) => /^[0-9a-f]+$/i.test(key)
const isHex = (key: unknown) => typeof key === 'string' && /^(0x)?[0-9a-f]+$/i.test(key)
const isPrefixed = (key: string) => /^0x[0-9a-f]+$/i.test(key)

type Entry = Readonly<Record<'blockNumber' | 'logIndex', string>>

/** Whether an entry stands before another on the chain. */
function isBefore(entry: Entry, { blockNumber, logIndex }: Readonly<Record<string, unknown>>): boolean {
  const number = (key: unknown): bigint => BigInt(`0x${String(key).replace(/^0x/, '')}`)
  const blocks = number(entry.blockNumber) - number(blockNumber)
  return blocks < 0n || (blocks === 0n && number(entry.logIndex) < number(logIndex))
}

function withoutKeys({ paging_options: _keys, ...filter }: Readonly<Record<string, unknown>>): object {
  return filter
}

/**
 * All entries of the node, the youngest first, from before the paging keys. A refusal of the reference server stays.
 */
const pagesFromTheYoungest: Handler = async (request, forward, tools) => {
  const body = (request.json ?? {}) as RpcBody
  const response = await forward(request)
  const filter = filterOf(body)
  if (!filter || !Array.isArray((response.json as { result?: unknown } | undefined)?.result)) return response
  const all = ((await tools.chain('eth_getLogs', [withoutKeys(filter)])) as Entry[]).toReversed()
  const keys = pagingOf(body)
  const left = keys ? all.filter((entry) => isBefore(entry, keys)) : all
  return respond(200, { jsonrpc: '2.0', id: body['id'], result: left.slice(0, 1000) })
}

export default [
  ...[1, 7, 10, 100, 500, 999].map((size) => pagesOfSize(`has-pages-of-${size}`, () => size)),
  {
    ...pagesOfSize('has-pages-of-changing-size', (turn) => 100 + ((turn * 37) % 400)),
    environment: { options: ['--fuzz', '30', '--seed', '3'] },
  },
  {
    ...pagesOfSize('has-pages-of-10-and-20', (turn) => 10 * (1 + (turn % 2))),
    environment: { options: ['--no-relay', '--fuzz', '30', '--seed', '3'] },
  },
  defineLawful({
    id: 'cuts-long-first-pages-alone',
    clauses,
    allowedBy: short,
    mayFail: shortMayFail,
    async rpc(request, forward, tools) {
      const isNext = pagingOf((request.json ?? {}) as RpcBody) !== undefined
      return isNext ? forward(request) : pagesOf(() => 300)(request, forward, tools)
    },
  }),

  defineLawful({
    id: 'pages-by-a-second-parameter',
    clauses,
    allowedBy: options,
    mayFail: ['eth-rpc.eth_getLogs.bad-params'],
    rpc: pagesBy({ keysOf: (_filter, params) => keysIn(params[1]) }),
  }),
  defineLawful({
    id: 'pages-by-members-of-the-filter',
    clauses,
    allowedBy: options,
    rpc: pagesBy({ keysOf: (filter) => ('logIndex' in filter ? filter : undefined) }),
  }),
  defineLawful({
    id: 'pages-by-another-name',
    clauses,
    allowedBy: options,
    rpc: pagesBy({ keysOf: ({ pagination }) => keysIn(pagination) }),
  }),
  defineLawful({
    id: 'pages-by-a-third-name',
    clauses,
    allowedBy: options,
    rpc: pagesBy({ keysOf: ({ paging }) => keysIn(paging) }),
  }),
  defineLawful({
    id: 'pages-by-a-name-that-nobody-knows',
    clauses,
    allowedBy: options,
    untestable: [...unknownWay, 'eth-rpc.eth_getLogs.max-1000'],
    rpc: pagesBy({ keysOf: ({ resume_from }) => keysIn(resume_from) }),
  }),
  defineLawful({
    id: 'pages-by-a-name-that-is-told',
    clauses,
    allowedBy: options,
    environment: { options: ['--paging', 'resume_from:transactionIndex'] },
    rpc: pagesBy({ keysOf: ({ resume_from }) => keysIn(resume_from), third: 'transactionIndex' }),
  }),
  defineLawful({
    id: 'pages-by-transaction-index-too',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.third-key'],
    allowedBy: third,
    rpc: pagesBy({ keysOf: ({ paging_options }) => keysIn(paging_options), third: 'transactionIndex' }),
  }),
  defineLawful({
    id: 'pages-by-block-hash-too',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.third-key'],
    allowedBy: third,
    rpc: pagesBy({ keysOf: ({ paging_options }) => keysIn(paging_options), third: 'blockHash' }),
  }),
  defineLawful({
    id: 'pages-by-a-limit-too',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.third-key'],
    allowedBy: third,
    rpc: pagesBy({ keysOf: ({ paging_options }) => keysIn(paging_options), third: 'limit' }),
  }),
  // Debatable: it refuses keys that are malformed, and takes keys that are not complete for none.
  defineLawful({
    id: 'begins-again-where-an-unknown-third-key-is-missing',
    clauses,
    allowedBy: third,
    untestable: [...unknownWay, 'eth-rpc.eth_getLogs.max-1000'],
    rpc: pagesBy({
      keysOf({ paging_options }) {
        const keys = keysIn(paging_options) ?? {}
        const values = [keys['blockNumber'], keys['logIndex']].filter((key) => key !== undefined)
        return 'itemsCount' in keys || !values.every(isHex) ? keys : undefined
      },
      isKey: isHex,
    }),
  }),
  defineLawful({
    id: 'reads-bare-keys-alone-and-writes-them-so',
    clauses,
    allowedBy: 'eth-rpc 2: "Values are hex strings", "taken from the last log entry"',
    mayFail: ['eth-rpc.eth_getLogs.result-schema'],
    async rpc(request, forward, tools) {
      const paged = pagesBy({ keysOf: ({ paging_options }) => keysIn(paging_options), isKey: isBare })
      const response = await paged(request, forward, tools)
      const names = ['blockNumber', 'logIndex']
      return mapResponses(response, (answer) => ({
        ...answer,
        ...(Array.isArray(answer['result']) && {
          result: (answer['result'] as Record<string, unknown>[]).map((entry) => ({
            ...entry,
            ...Object.fromEntries(names.map((name) => [name, String(entry[name]).replace(/^0x/, '')])),
          })),
        }),
      }))
    },
  }),
  defineLawful({
    id: 'reads-keys-with-0x-alone',
    clauses: [...clauses, 'eth-rpc.eth_getLogs.page-keys-bare-hex'],
    allowedBy: 'eth-rpc 2: "taken from the last log entry", where they have 0x',
    mayFail: ['eth-rpc.eth_getLogs.page-keys-bare-hex'],
    rpc: pagesBy({ keysOf: ({ paging_options }) => keysIn(paging_options), isKey: isPrefixed }),
  }),
  defineLawful({
    id: 'answers-null-after-the-last-page',
    clauses: ['eth-rpc.eth_getLogs.walk-ends', 'eth-rpc.eth_getLogs.next-page'],
    allowedBy: 'eth-rpc 8: what follows after the last entry is not shown',
    mayFail: ['eth-rpc.eth_getLogs.walk-ends'],
    async rpc(request, forward) {
      const response = await forward(request)
      if (!pagingOf((request.json ?? {}) as RpcBody)) return response
      return mapResponses(response, (answer) =>
        Array.isArray(answer['result']) && answer['result'].length === 0 ? { ...answer, result: null } : answer,
      )
    },
  }),
  defineLawful({
    id: 'pages-from-the-youngest-entry-back',
    clauses,
    allowedBy: 'eth-rpc 8: the order of entries is not shown; the next page is what comes after the last one in it',
    mayFail: ['eth-rpc.eth_getLogs.order', 'eth-rpc.eth_getLogs.walk-ends', 'eth-rpc.eth_getLogs.page-keys-bare-hex'],
    rpc: pagesFromTheYoungest,
  }),
  defineLawful({
    id: 'ends-pages-with-blocks-where-it-can',
    clauses,
    allowedBy: short,
    mayFail: shortMayFail,
    async rpc(request, forward) {
      const response = await forward(request)
      if (!filterOf((request.json ?? {}) as RpcBody)) return response
      return mapResponses(response, (answer) => {
        const { result } = answer
        if (!Array.isArray(result) || result.length < 1000) return answer
        const entries = result as Record<string, unknown>[]
        const whole = entries.filter(({ blockNumber }) => blockNumber !== entries.at(-1)?.['blockNumber'])
        return { ...answer, result: whole.length > 0 ? whole : entries }
      })
    },
  }),
]
