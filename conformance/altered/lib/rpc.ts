import { mapResponses, respond, withJson, type Handler, type AlteredRequest } from '../define.ts'

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
