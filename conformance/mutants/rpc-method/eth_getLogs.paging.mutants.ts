import { defineMutant, mapResponses, respond } from '../../altered/define.ts'
import { alterPaging, alterResult, filterOf, pagingOf, refuse, type RpcBody } from '../../altered/lib/rpc.ts'

function decimal(key: string): string {
  return /^[0-9a-f]+$/i.test(key) ? `0x${(parseInt(key, 10) || 0).toString(16)}` : key
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
    clause: 'eth-rpc.eth_getLogs.next-page',
    fault: 'the pagination options are ignored: the first page comes again',
    rpc: alterPaging(() => undefined),
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
]
