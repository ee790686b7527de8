import {
  mapResponses,
  withJson,
  type AlteredRequest,
  type AlteredResponse,
  type AlteredTools,
  type Handler,
} from '../define.ts'
import { filterOf, type RpcBody } from './rpc.ts'

type Members = Readonly<Record<string, unknown>>

const quantity = (number: bigint): string => `0x${number.toString(16)}`
const isNumber = (block: unknown): block is string => typeof block === 'string' && /^0x[0-9a-f]+$/i.test(block)

/** The number of the chain's head block. */
export async function headOf({ chain }: AlteredTools): Promise<bigint> {
  return BigInt(String(await chain('eth_blockNumber')))
}

/** The head this many blocks before the chain's. */
export function blocksBehind(blocks: bigint): (tools: AlteredTools) => Promise<bigint> {
  return async (tools) => {
    const head = await headOf(tools)
    return head > blocks ? head - blocks : 0n
  }
}

/** The head that the chain had this long ago; at the first request, its present head. */
export function timeBehind(lagMs: number): (tools: AlteredTools) => Promise<bigint> {
  return async (tools) => {
    const seen = (tools.memory.get('heads') ?? []) as { readonly atMs: number; readonly head: bigint }[]
    seen.push({ atMs: Date.now(), head: await headOf(tools) })
    tools.memory.set('heads', seen)
    const [first] = seen
    return seen.findLast(({ atMs }) => atMs <= Date.now() - lagMs)?.head ?? first?.head ?? 0n
  }
}

/** The request in which tags mean this head. */
function atHead(request: AlteredRequest, head: bigint): AlteredRequest {
  const body = (request.json ?? {}) as RpcBody
  const { method, params } = body
  const list = Array.isArray(params) ? (params as unknown[]) : []
  const isTag = (block: unknown): boolean => block === 'latest' || block === 'pending'
  if (method === 'eth_getBalance' && isTag(list[1])) {
    return withJson(request, { ...body, params: [list[0], quantity(head), ...list.slice(2)] })
  }
  const filter = filterOf(body)
  if (!filter) return request
  const ends = Object.fromEntries(
    ['fromBlock', 'toBlock'].map((name) => [name, isTag(filter[name]) ? quantity(head) : filter[name]]),
  )
  return withJson(request, { ...body, params: [{ ...filter, ...ends }, ...list.slice(1)] })
}

/** The answer of a service that knows no block after this head. */
function upTo(request: AlteredRequest, response: AlteredResponse, head: bigint): AlteredResponse {
  const { method } = (request.json ?? {}) as RpcBody
  const isKnown = (found: unknown): boolean => {
    const block = (found as Members | null)?.['blockNumber']
    return !isNumber(block) || BigInt(block) <= head
  }
  return mapResponses(response, (answer) => {
    const { result } = answer
    if (result === undefined) return answer
    if (method === 'eth_blockNumber') return { ...answer, result: quantity(head) }
    if (method === 'eth_getLogs' && Array.isArray(result))
      return { ...answer, result: (result as unknown[]).filter(isKnown) }
    return String(method).startsWith('eth_getTransaction') && !isKnown(result) ? { ...answer, result: null } : answer
  })
}

/**
 * A service that knows of blocks later than the chain's node does, and answers from one moment. Batches pass
 * unaltered.
 */
export function lagging(knownHead: (tools: AlteredTools) => Promise<bigint>): Handler {
  return async (request, forward, tools) => {
    if (Array.isArray(request.json)) return forward(request)
    const head = await knownHead(tools)
    const asked = atHead(request, head)
    return upTo(asked, await forward(asked), head)
  }
}
