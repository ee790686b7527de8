import { parseLossless, stringify } from '../../../lib/lossless-json.ts'
import { serve, type TestServer } from '../../support/serve.ts'

type Json = Readonly<Record<string, unknown>>
type Log = Readonly<Record<string, string>>

/** Habits of servers where the documents are silent. */
export interface StrangerHabits {
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

export class Refusal extends Error {
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
export function startStranger(rpcUrl: string, habits: StrangerHabits = {}): Promise<TestServer> {
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
      return { status: 200, body: stringify({ jsonrpc: '2.0', id, result: served }) }
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
