import type { Logger } from 'pino'
import { ServiceError } from '../core/errors.ts'
import { describeError, type Validate } from '../core/validate.ts'
import { toRpcError } from './errors.ts'
import { NonIntegerNumber, type Json } from './lossless-json.ts'
import { faultOf } from './params-fault.ts'
import { withinTime } from '../concurrency/within-time.ts'

/** A method that can be called, its schema compiled. */
export interface RpcMethod {
  readonly validateParams: Validate
  readonly validateResult: Validate
  /**
   * @param params valid; every number in it is a plain JavaScript number
   * @returns what is validated and sent. An object that is frozen, all the way down, is checked and written only once
   *   however often it is returned.
   */
  readonly handle: (params: readonly unknown[]) => unknown
  /** A hint for a caller whose params break the schema; undefined: there is nothing to add. */
  readonly explain?: ((params: readonly unknown[]) => string | undefined) | undefined
}

/** What a call knows of its HTTP request. The logger is made when it is first read. */
export interface CallContext {
  readonly log: Logger
}

/**
 * Answers one request object, or what stands in its place. Never rejects.
 *
 * @param deadlineMs when there is an answer at the latest, on the clock of `performance.now()`
 */
export type Caller = (request: Json, context: CallContext, deadlineMs: number) => Promise<string>

type JsonObject = { [key: string]: Json }

interface PreparedMethod extends RpcMethod {
  /** What has been checked and written before. */
  readonly texts: WeakMap<object, string>
}

/** The text of the answer to one request of a JSON-RPC endpoint with these methods. */
export function createCaller(methods: ReadonlyMap<string, RpcMethod>): Caller {
  const prepared = new Map<string, PreparedMethod>()
  for (const [name, { validateParams, validateResult, handle, explain }] of methods) {
    prepared.set(name, { validateParams, validateResult, handle, explain, texts: new WeakMap() })
  }

  return async (request, context, deadlineMs) => {
    if (!isObject(request)) return errorText('null', invalidRequest('a request is an object'))
    const id = idText(request['id'])
    if (id === undefined) {
      return errorText(
        'null',
        invalidRequest(
          `id is an integer, a string of at most ${LONGEST_ID} characters or null, and must not be missing`,
        ),
      )
    }
    try {
      const { name, method, params } = dispatch(request, prepared)
      if (performance.now() >= deadlineMs) throw late()
      const handling = method.handle(params)
      const result = handling instanceof Promise ? await withinTime<unknown>(handling, deadlineMs, late) : handling
      return `{"jsonrpc":"2.0","id":${id},"result":${resultText(name, method, result, context)}}`
    } catch (thrown) {
      return errorText(id, thrown instanceof ServiceError ? thrown : unexpected(thrown, context))
    }
  }
}

const late = () => new ServiceError('UPSTREAM_UNAVAILABLE', 'the node did not answer in time', { retryAfterSeconds: 1 })

/** The text of an error response; `id` is JSON text. */
export function errorText(id: string, error: ServiceError): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(toRpcError(error))}}`
}

/** The most characters of an id that is a string: an answer to a batch repeats it. */
const LONGEST_ID = 1_000

/** The id as it was written, or undefined when there is none that could be echoed. */
export function idText(id: Json | undefined): string | undefined {
  if (typeof id === 'number' || typeof id === 'bigint') return String(id)
  if (typeof id === 'string') return id.length > LONGEST_ID ? undefined : JSON.stringify(id)
  if (id === null) return 'null'
  return id instanceof NonIntegerNumber ? id.source : undefined
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NonIntegerNumber)
}

function dispatch(request: JsonObject, methods: ReadonlyMap<string, PreparedMethod>) {
  if (request['jsonrpc'] !== '2.0') throw invalidRequest('jsonrpc is "2.0"')
  const name = request['method']
  if (typeof name !== 'string') throw invalidRequest('method is a string')
  const method = methods.get(name)
  if (method === undefined) throw new ServiceError('RPC_METHOD_NOT_FOUND', name.slice(0, 100))
  const params = request['params'] ?? []
  if (!Array.isArray(params)) throw new ServiceError('RPC_INVALID_PARAMS', 'params is an array')
  const plain = params.map(plainNumbers)
  if (!method.validateParams(plain)) throw invalidParams(method, plain)
  return { name, method, params: plain }
}

/** What schemas and handlers know: no parameter needs more digits than a JavaScript number has. */
function plainNumbers(value: Json): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof NonIntegerNumber) return Number(value.source)
  if (Array.isArray(value)) return value.map(plainNumbers)
  // `__proto__` must stay a key like any other.
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' || typeof member === 'bigint') {
      Object.defineProperty(value, key, { value: plainNumbers(member) })
    }
  }
  return value
}

function resultText(name: string, method: PreparedMethod, result: unknown, context: CallContext): string {
  const lasting = typeof result === 'object' && result !== null && Object.isFrozen(result)
  const known = lasting ? method.texts.get(result) : undefined
  if (known !== undefined) return known

  const text = method.validateResult(result) ? (JSON.stringify(result) as string | undefined) : undefined
  if (text === undefined) {
    const faults = method.validateResult.errors?.map((error) => describeError(error, 'result'))
    context.log.error({ method: name, faults }, 'a result breaks its schema and was not sent')
    throw new ServiceError('RPC_SERVER_ERROR', 'the result is not valid')
  }
  if (lasting) method.texts.set(result, text)
  return text
}

function invalidParams({ validateParams, explain }: RpcMethod, params: readonly unknown[]): ServiceError {
  const { field, reason } = faultOf(validateParams.errors ?? [])
  const hint = explain?.(params)
  const words = `${field} ${reason}${hint === undefined ? '' : `; ${hint}`}`
  return new ServiceError('RPC_INVALID_PARAMS', words, { details: { field } })
}

const invalidRequest = (reason: string) => new ServiceError('RPC_INVALID_REQUEST', reason)

/** Our own fault, and most likely to happen again: not RPC_INTERNAL, on which clients try again. */
function unexpected(thrown: unknown, { log }: CallContext): ServiceError {
  log.error({ err: thrown }, 'unexpected error')
  return new ServiceError('RPC_SERVER_ERROR', 'see the log of the service under the id of this request', {
    cause: thrown,
  })
}
