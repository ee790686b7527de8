import {
  type AlteredRequest,
  type AlteredTools,
  defineMutant,
  type Forward,
  mapResponses,
  respond,
  withJson,
} from '../../altered/define.ts'
import {
  alterFilter,
  alterPaging,
  alterResult,
  filterOf,
  pagingOf,
  refuse,
  type RpcBody,
} from '../../altered/lib/rpc.ts'

function decimal(key: string): string {
  return /^[0-9a-f]+$/i.test(key) ? `0x${(parseInt(key, 10) || 0).toString(16)}` : key
}

type Filter = Readonly<Record<string, unknown>>

/** A page of up to 1500 entries, made from two pages. */
async function longPage(request: AlteredRequest, forward: Forward, keys: Filter) {
  const first = await forward(request)
  const { result } = (first.json ?? {}) as { result?: unknown }
  if (!Array.isArray(result) || result.length < 1000) return first
  const { blockNumber, logIndex } = (result as Filter[]).at(-1) ?? {}
  const body = request.json as RpcBody
  const filter = { ...filterOf(body), paging_options: { ...keys, blockNumber, logIndex } }
  const second = await forward(withJson(request, { ...body, params: [filter] }))
  const more = ((second.json ?? {}) as { result?: unknown[] }).result ?? []
  return mapResponses(first, (answer) => ({ ...answer, result: [...(result as unknown[]), ...more].slice(0, 1500) }))
}

/** Answers some filters with all that the node has, uncut. */
function uncut(isWhole: (filter: Filter) => boolean) {
  return async (request: AlteredRequest, forward: Forward, tools: AlteredTools) => {
    const body = (request.json ?? {}) as RpcBody
    const filter = filterOf(body)
    if (!filter || !isWhole(filter)) return forward(request)
    // When the node refuses the filter, the reference server refuses it in its own words.
    const result = await tools.chain('eth_getLogs', [filter]).catch(() => undefined)
    return result === undefined ? forward(request) : respond(200, { jsonrpc: '2.0', id: body['id'], result })
  }
}

function withKeys(filter: Filter, change: object): Filter {
  return { ...filter, paging_options: { ...(filter['paging_options'] as object), ...change } }
}

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getLogs.max-1000',
    fault: 'a full page has one entry more',
    rpc: alterResult('eth_getLogs', (logs) =>
      Array.isArray(logs) && logs.length === 1000 ? [...(logs as unknown[]), logs.at(-1) as unknown] : logs,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.max-1000',
    name: 'by-hash',
    fault: 'a block by its hash is not cut into pages',
    rpc: async (request, forward, tools) => {
      const body = (request.json ?? {}) as RpcBody
      const filter = filterOf(body)
      if (typeof filter?.['blockHash'] !== 'string') return forward(request)
      return respond(200, { jsonrpc: '2.0', id: body['id'], result: await tools.chain('eth_getLogs', [filter]) })
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.max-1000',
    name: 'in-a-batch',
    fault: 'in a batch logs are not cut into pages',
    rpc: async (request, forward, tools) => {
      if (!Array.isArray(request.json)) return forward(request)
      const one = uncut(({ paging_options }) => paging_options === undefined)
      const answers: unknown[] = []
      for (const json of request.json as unknown[])
        answers.push((await one(withJson(request, json), forward, tools)).json)
      return answers.length === 0 ? forward(request) : respond(200, answers)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    fault: 'the pagination options are ignored: the first page comes again',
    // The reference server still refuses malformed and missing keys, which shows that it reads them.
    rpc: alterPaging((keys) =>
      [keys['logIndex'], keys['blockNumber']].every((key) => /^(0x)?[0-9a-f]+$/i.test(String(key))) ? undefined : keys,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'gap',
    fault: 'the first entry of a next page is left out',
    rpc: alterResult('eth_getLogs', (logs, body) =>
      pagingOf(body) && Array.isArray(logs) ? (logs as unknown[]).slice(1) : logs,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'index-only',
    fault: 'the index of the last log is held against the logs of later blocks too',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      const keys = pagingOf(body)
      if (!keys || !Array.isArray(logs)) return logs
      const last = BigInt(`0x${String(keys['logIndex']).replace(/^0x/, '')}`)
      return (logs as { logIndex: string }[]).filter(({ logIndex }) => BigInt(logIndex) > last)
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'loop',
    fault: 'every page after the first is the second again',
    rpc: (request, forward, tools) =>
      alterPaging((keys) => {
        if (!tools.memory.has('keys')) tools.memory.set('keys', keys)
        return tools.memory.get('keys') as object
      })(request, forward, tools),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'next-block',
    fault: 'the next page begins with the next block',
    rpc: alterPaging((keys) => ({ ...keys, logIndex: '0xffffffff' })),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'repeat',
    fault: 'the next page begins with the last entry again',
    rpc: alterPaging((keys) => {
      const index = BigInt(`0x${String(keys['logIndex']).replace(/^0x/, '')}`)
      return index === 0n ? keys : { ...keys, logIndex: `0x${(index - 1n).toString(16)}` }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.page-keys-verbatim',
    fault: 'the keys are refused with 0x, as they stand in the entry',
    rpc: refuse(-32602, (body) => String(pagingOf(body)?.['logIndex']).startsWith('0x')),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
    fault: 'keys without 0x are refused',
    rpc: refuse(-32602, (body) => {
      const key = pagingOf(body)?.['logIndex']
      return typeof key === 'string' && /^[0-9a-f]+$/i.test(key)
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
    name: 'decimal',
    fault: 'keys without 0x are read as decimal',
    rpc: alterPaging((keys) =>
      Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, decimal(String(value))])),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.walk-ends',
    fault: 'an error instead of an empty page after the last log',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if (!pagingOf((request.json ?? {}) as RpcBody)) return response
      return mapResponses(response, (answer) =>
        Array.isArray(answer['result']) && answer['result'].length === 0
          ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'no more logs' } }
          : answer,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.walk-ends',
    name: 'short-pages',
    fault: 'pages of 999 entries',
    rpc: alterResult('eth_getLogs', (logs) => (Array.isArray(logs) ? logs.slice(0, 999) : logs)),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.max-1000',
    name: 'later-pages',
    fault: 'pages after the first hold 1500 entries',
    async rpc(request, forward) {
      const keys = pagingOf((request.json ?? {}) as RpcBody)
      return keys ? longPage(request, forward, keys) : forward(request)
    },
  }),

  ...(
    [
      ['by-topics', 'a filter by topics is not cut', ({ topics }) => Array.isArray(topics) && topics.some(Boolean)],
      ['by-several-addresses', 'a filter of several addresses is not cut', ({ address }) => Array.isArray(address)],
      ['without-an-end', 'a range that names no last block is not cut', ({ toBlock }) => toBlock === undefined],
      ['without-an-address', 'a filter without an address is not cut', ({ address }) => address === undefined],
      ['of-one-block', 'a range of one block is not cut', ({ fromBlock, toBlock }) => fromBlock === toBlock],
    ] as const satisfies readonly (readonly [string, string, (filter: Filter) => boolean])[]
  ).map(([name, fault, isWhole]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.max-1000',
      name,
      fault,
      rpc: uncut((filter) => isWhole(filter) && filter['paging_options'] === undefined),
    }),
  ),

  ...(
    [
      ['forgets-topics', 'the next page forgets the topics', ({ topics: _topics, ...filter }) => filter],
      ['forgets-the-address', 'the next page forgets the address', ({ address: _address, ...filter }) => filter],
      ['forgets-the-end', 'the next page goes on beyond toBlock', (filter) => ({ ...filter, toBlock: 'latest' })],
      [
        'skips-the-block-of-two-addresses',
        'with two addresses the next page begins with the next block',
        (filter) => (Array.isArray(filter['address']) ? withKeys(filter, { logIndex: '0xffffffff' }) : filter),
      ],
      [
        'skips-the-block-of-topics',
        'with topics the next page begins with the next block',
        (filter) => (Array.isArray(filter['topics']) ? withKeys(filter, { logIndex: '0xffffffff' }) : filter),
      ],
    ] as const satisfies readonly (readonly [string, string, (filter: Filter) => object])[]
  ).map(([name, fault, alter]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.next-page',
      name,
      fault,
      rpc: alterFilter((filter) => (filter['paging_options'] === undefined ? filter : alter(filter))),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'gap-in-the-third',
    fault: 'the third page begins an entry late',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      const keys = pagingOf(body)
      if (!keys || !Array.isArray(logs) || logs.length === 1000) return logs
      return (logs as unknown[]).slice(1)
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'ends-early',
    fault: 'after the second page there is nothing',
    rpc: async (request, forward, tools) => {
      const keys = JSON.stringify(pagingOf((request.json ?? {}) as RpcBody))
      const first = (tools.memory.get('first') ?? keys) as string | undefined
      if (keys !== undefined) tools.memory.set('first', first)
      const isLater = keys !== undefined && keys !== first
      const response = await forward(request)
      return isLater ? mapResponses(response, (answer) => ({ ...answer, result: [] })) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'eight-bits',
    fault: 'of logIndex only the last two digits are read',
    rpc: alterPaging((keys) => ({ ...keys, logIndex: `0x${String(keys['logIndex']).slice(-2).replace('x', '')}` })),
  }),

  ...(
    [
      ['to-latest', 'of a range up to "latest"', ({ toBlock }) => toBlock === 'latest'],
      ['without-end', 'of a range without toBlock', (filter) => !('toBlock' in filter) && !('blockHash' in filter)],
      ['by-hash', 'of a block by its hash', ({ blockHash }) => blockHash !== undefined],
      ['of-any-address', 'of a filter without an address', ({ address }) => address === undefined],
    ] as readonly (readonly [string, string, (filter: Filter) => boolean])[]
  ).map(([name, which, isMeant]) =>
    defineMutant({
      clause: 'eth-rpc.eth_getLogs.next-page',
      name,
      fault: `${which} the first page comes again and again`,
      rpc: alterFilter(({ paging_options, ...filter }) =>
        isMeant(filter) || paging_options === undefined ? filter : { ...filter, paging_options },
      ),
    }),
  ),

  defineMutant({
    clause: 'eth-rpc.eth_getLogs.next-page',
    name: 'zero-is-no-key',
    fault: 'a logIndex of zero is taken for none: the first page comes again',
    rpc: alterPaging((keys) => (/^(0x)?0+$/.test(String(keys['logIndex'])) ? undefined : keys)),
  }),
]
