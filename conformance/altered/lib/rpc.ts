import {
  type Alteration,
  type AlteredRequest,
  type AlteredResponse,
  type AlteredTools,
  type Handler,
  mapResponses,
  respond,
  withJson,
} from '../define.ts'

/** A single JSON-RPC request. */
export type RpcBody = Readonly<Record<string, unknown>>

function singleRequest({ json }: AlteredRequest): RpcBody | undefined {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as RpcBody) : undefined
}

/** Alters the results of one method, and no errors. Batches pass unaltered. */
export function alterResult(method: string, alter: (result: unknown, body: RpcBody) => unknown): Handler {
  return async (request, forward) => {
    const body = singleRequest(request)
    const response = await forward(request)
    if (body?.['method'] !== method) return response
    return mapResponses(response, (answer) =>
      'result' in answer ? { ...answer, result: alter(answer['result'], body) } : answer,
    )
  }
}

/** Gives requests of one method at the same time the answer of the first, whatever their parameters. */
export function sharedAtOnce(method: string): Handler {
  return async (request, forward, { memory }) => {
    const body = singleRequest(request)
    if (body?.['method'] !== method) return forward(request)
    const underWay = memory.get(`under way ${method}`) as Promise<AlteredResponse> | undefined
    if (underWay) return respond(200, { ...((await underWay).json as object), id: body['id'] })
    const asked = forward(request)
    memory.set(`under way ${method}`, asked)
    return asked.finally(() => memory.delete(`under way ${method}`))
  }
}

/** Alters every JSON-RPC response object, with a result or an error, also in batches. */
export function alterResponses(alter: (answer: RpcBody) => unknown): Handler {
  return async (request, forward) => mapResponses(await forward(request), alter)
}

/** Alters single requests before the reference server sees them. */
export function alterRequest(alter: (body: RpcBody) => unknown): Handler {
  return (request, forward) => {
    const body = singleRequest(request)
    return forward(body ? withJson(request, alter(body)) : request)
  }
}

/** Alters the parameters of one method before the reference server sees them. */
export function alterParams(method: string, alter: (params: readonly unknown[]) => readonly unknown[]): Handler {
  return alterRequest((body) =>
    body['method'] === method && Array.isArray(body['params']) ? { ...body, params: alter(body['params']) } : body,
  )
}

/** The filter of an eth_getLogs request; undefined for anything else. */
export function filterOf({ method, params }: RpcBody): Readonly<Record<string, unknown>> | undefined {
  const [filter] = method === 'eth_getLogs' && Array.isArray(params) ? (params as unknown[]) : []
  return typeof filter === 'object' && filter !== null ? (filter as Record<string, unknown>) : undefined
}

/** The pagination options of an eth_getLogs request; undefined for anything else. */
export function pagingOf(body: RpcBody): Readonly<Record<string, unknown>> | undefined {
  const keys = filterOf(body)?.['paging_options']
  return typeof keys === 'object' && keys !== null ? (keys as Record<string, unknown>) : undefined
}

/** Alters the filters of eth_getLogs before the reference server sees them. A member that is undefined is left out. */
export function alterFilter(alter: (filter: Readonly<Record<string, unknown>>) => object): Handler {
  return alterRequest((body) => {
    const filter = filterOf(body)
    const rest = Array.isArray(body['params']) ? (body['params'] as unknown[]).slice(1) : []
    return filter ? { ...body, params: [alter(filter), ...rest] } : body
  })
}

/** Alters the pagination options of eth_getLogs before the reference server sees them. */
export function alterPaging(alter: (keys: Readonly<Record<string, unknown>>) => object | undefined): Handler {
  return alterFilter((filter) => {
    const keys = filter['paging_options']
    if (typeof keys !== 'object' || keys === null) return filter
    return { ...filter, paging_options: alter(keys as Record<string, unknown>) }
  })
}

/** Refuses some single requests with an error of the alteration. */
export function refuse(code: number, when: (body: RpcBody, request: AlteredRequest) => boolean): Handler {
  return async (request, forward) => {
    const body = singleRequest(request)
    if (!body || !when(body, request)) return forward(request)
    return respond(200, {
      jsonrpc: '2.0',
      id: body['id'] ?? null,
      error: { code, message: 'refused by the alteration' },
    })
  }
}

/** Answers with the result null where the reference server refuses bad parameters of one method. */
export function nullForBadParams(method: string): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (singleRequest(request)?.['method'] !== method) return response
    return mapResponses(response, ({ jsonrpc, id, ...rest }) => ({
      jsonrpc,
      id,
      ...('error' in rest ? { result: null } : rest),
    }))
  }
}

/** Answers with an error where a method has the result null. */
export function errorForNull(method: string): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (singleRequest(request)?.['method'] !== method) return response
    return mapResponses(response, (answer) =>
      answer['result'] === null
        ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
        : answer,
    )
  }
}

/** Serves a method without parameters even when the request has some. */
export function ignoreParams(method: string): Handler {
  return alterRequest((body) => (body['method'] === method ? { ...body, params: [] } : body))
}

/** A quantity with a leading zero: the same number, in a form that the standard forbids. */
export function paddedQuantity(result: unknown): unknown {
  return typeof result === 'string' ? result.replace(/^0x/, '0x0') : result
}

const scalarMethods = new Set([
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_maxPriorityFeePerGas',
])

/**
 * Writes results that are one quantity in another form. Batches pass unaltered.
 *
 * @param form gets `0x` and hex digits
 */
export function numbersAs(form: (hex: string) => unknown): Handler {
  return async (request, forward) => {
    const response = await forward(request)
    if (!scalarMethods.has(String(singleRequest(request)?.['method']))) return response
    return mapResponses(response, (answer) =>
      typeof answer['result'] === 'string' ? { ...answer, result: form(answer['result']) } : answer,
    )
  }
}

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

/** What a service that knows no block after its head answers to what lies there: null, or an error. */
type Ignorance = 'null' | 'error'

/** The answer of a service that knows no block after this head. */
function upTo(request: AlteredRequest, response: AlteredResponse, head: bigint, ignorance: Ignorance): AlteredResponse {
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
    if (!String(method).startsWith('eth_getTransaction') || isKnown(result)) return answer
    return ignorance === 'null' ? { ...answer, result: null } : notFound(answer['id'])
  })
}

const notFound = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'not found' } })

/** Whether the request asks for a balance at a block after this head. */
function isBalanceAfter({ json }: AlteredRequest, head: bigint): boolean {
  const { method, params } = (json ?? {}) as RpcBody
  const block = Array.isArray(params) ? (params as unknown[])[1] : undefined
  return method === 'eth_getBalance' && isNumber(block) && BigInt(block) > head
}

/**
 * A service that knows of blocks later than the chain's node does, and answers from one moment. Batches pass
 * unaltered.
 *
 * @param ignorance `error`: what it does not know yet is an error, balances too
 */
export function lagging(knownHead: (tools: AlteredTools) => Promise<bigint>, ignorance: Ignorance = 'null'): Handler {
  return async (request, forward, tools) => {
    if (Array.isArray(request.json)) return forward(request)
    const head = await knownHead(tools)
    const asked = atHead(request, head)
    if (ignorance === 'error' && isBalanceAfter(asked, head)) {
      return respond(200, notFound((asked.json as { id?: unknown }).id))
    }
    return upTo(asked, await forward(asked), head, ignorance)
  }
}

/**
 * Answers otherwise for a transaction that was asked for within this time after POST /execute told its hash.
 *
 * @param isForEver whether the first such answer is kept, and given later as well
 */
export function asksEarly(
  method: string,
  withinMs: number,
  { answer, isForEver }: { readonly answer: (found: unknown) => unknown; readonly isForEver: boolean },
): Pick<Alteration, 'execute' | 'rpc'> {
  return {
    async execute(request, forward, { memory }) {
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      if (typeof transactionHash === 'string') memory.set(`sent ${transactionHash.toLowerCase()}`, Date.now())
      return response
    },
    rpc: (request, forward, { memory, ...tools }) =>
      alterResult(method, (found, { params }) => {
        const hash = String((params as readonly unknown[])[0]).toLowerCase()
        if (memory.has(`kept ${hash}`)) return memory.get(`kept ${hash}`)
        if (Date.now() - Number(memory.get(`sent ${hash}`) ?? 0) >= withinMs) return found
        const early = answer(found)
        if (isForEver) memory.set(`kept ${hash}`, early)
        return early
      })(request, forward, { memory, ...tools }),
  }
}
