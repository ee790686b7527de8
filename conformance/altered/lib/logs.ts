import { mapResponses, respond, withJson, type AlteredRequest, type Forward, type Handler } from '../define.ts'
import { filterOf, type RpcBody } from './rpc.ts'

/** A log entry, or any result object. */
export type Members = Readonly<Record<string, unknown>>

export type LogFilter = Readonly<Record<string, unknown>>

/** Where the server looks for paging keys, and their names. */
export interface PagingForm {
  /** Reads the paging keys from the parameters; undefined: none, which asks for the first page. */
  readonly keysOf: (filter: LogFilter, params: readonly unknown[]) => Members | undefined
  /** A third key that the server requires; absent: none. */
  readonly third?: string
  /** Whether a key is well formed; absent: any hex string. */
  readonly isKey?: (value: string) => boolean
}

/** The parameters of an eth_getLogs request. */
function paramsOf({ json }: AlteredRequest): readonly unknown[] {
  const { params } = (json ?? {}) as RpcBody
  return Array.isArray(params) ? params : []
}

function refuseWith(request: AlteredRequest, message: string): ReturnType<typeof respond> {
  return respond(200, { jsonrpc: '2.0', id: ((request.json ?? {}) as RpcBody)['id'], error: { code: -32602, message } })
}

/** Asks the reference server for the page after these keys. */
function askPage(request: AlteredRequest, forward: Forward, filter: LogFilter, keys: Members | undefined) {
  const paging = keys && { paging_options: { blockNumber: keys['blockNumber'], logIndex: keys['logIndex'] } }
  return forward(withJson(request, { ...(request.json as object), params: [{ ...filter, ...paging }] }))
}

/** An eth_getLogs that takes the paging keys in another place, or with another third key. */
export function pagesBy({ keysOf, third, isKey = () => true }: PagingForm): Handler {
  return async (request, forward) => {
    const filter = filterOf((request.json ?? {}) as RpcBody)
    if (!filter) return forward(request)
    const keys = keysOf(filter, paramsOf(request))
    const own = keys === filter ? [third] : []
    const paging = ['paging_options', 'pagination', 'paging', 'resume_from', 'blockNumber', 'logIndex', ...own]
    const bare = Object.fromEntries(Object.entries(filter).filter(([name]) => !paging.includes(name)))
    if (!keys) return paramsOf(request).length > 1 ? forward(request) : askPage(request, forward, bare, undefined)
    if (third !== undefined && !(third in keys)) return refuseWith(request, `${third} is missing`)
    if (![keys['blockNumber'], keys['logIndex']].every((key) => typeof key === 'string' && isKey(key))) {
      return refuseWith(request, 'a paging key is malformed')
    }
    return askPage(request, forward, bare, keys)
  }
}

/** The value as paging keys; undefined when it is no object. */
export function keysIn(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

/**
 * Pages of another size. The documents allow shorter ones.
 *
 * @param size the number of entries in each page
 */
export function pagesOf(size: (turn: number) => number): Handler {
  return async (request, forward, { memory }) => {
    const response = await forward(request)
    if (!filterOf((request.json ?? {}) as RpcBody)) return response
    const turn = Number(memory.get('turn') ?? 0)
    memory.set('turn', turn + 1)
    return mapResponses(response, (answer) =>
      Array.isArray(answer['result'])
        ? { ...answer, result: (answer['result'] as unknown[]).slice(0, size(turn)) }
        : answer,
    )
  }
}

/** Refuses some filters of eth_getLogs. */
export function refusesFilters(message: string, when: (filter: LogFilter) => boolean): Handler {
  return async (request, forward) => {
    const filter = filterOf((request.json ?? {}) as RpcBody)
    return filter && when(filter) ? refuseWith(request, message) : forward(request)
  }
}

/** Alters each entry of the answers of eth_getLogs. */
export function entriesAs(alter: (entry: Members, index: number) => Members): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (!filterOf((request.json ?? {}) as RpcBody)) return response
    return mapResponses(response, (answer) =>
      Array.isArray(answer['result']) ? { ...answer, result: (answer['result'] as Members[]).map(alter) } : answer,
    )
  }
}
