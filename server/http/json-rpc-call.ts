import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { ServiceError } from '../core/errors.ts'
import { inWords } from '../core/in-words.ts'
import { brokenRuleOf, fieldOf, type Validate } from '../core/validate.ts'
import { setRetryAfter, toRpcError } from './errors.ts'
import { type JsonPart, type JsonText, partOf } from './json-text.ts'
import { NonIntegerNumber, type Json } from './lossless-json.ts'
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
  readonly handle: (params: readonly unknown[], context: CallContext) => unknown
  /** A hint for a caller whose params break the schema; undefined: there is nothing to add. */
  readonly explain?: ((params: readonly unknown[]) => string | undefined) | undefined
}

/** What a call knows of its HTTP request. The logger is made when it is first read. */
export interface CallContext {
  readonly log: Logger
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Answers one request object, or what stands in its place. Never rejects.
 *
 * @param deadlineMs when there is an answer at the latest, on the clock of `performance.now()`
 */
export type Caller = (request: Json, context: CallContext, deadlineMs: number) => Promise<JsonText>

type JsonObject = { [key: string]: Json }

interface PreparedMethod extends RpcMethod {
  /** What has been checked and written before. */
  readonly parts: WeakMap<object, JsonPart>
}

/** The text of the answer to one request of a JSON-RPC endpoint with these methods. */
export function createCaller(methods: ReadonlyMap<string, RpcMethod>): Caller {
  const prepared = new Map<string, PreparedMethod>()
  for (const [name, { validateParams, validateResult, handle, explain }] of methods) {
    prepared.set(name, { validateParams, validateResult, handle, explain, parts: new WeakMap() })
  }

  return async (request, context, deadlineMs) => {
    if (!isObject(request)) return errorText('null', invalidRequest('a request is an object'))
    const id = idText(request['id'])
    if (id === undefined) {
      return errorText(
        'null',
        invalidRequest(`id is a number, a string of at most ${LONGEST_ID} characters or null, and must not be missing`),
      )
    }
    try {
      const { name, method, params } = dispatch(request, prepared)
      if (performance.now() >= deadlineMs) throw late()
      const handling = method.handle(params, context)
      const result = handling instanceof Promise ? await withinTime<unknown>(handling, deadlineMs, late) : handling
      const part = resultPart(name, method, result, context)
      const head = `{"jsonrpc":"2.0","id":${id},"result":`
      return typeof part === 'string' ? `${head}${part}}` : [head, part, '}']
    } catch (thrown) {
      const error = thrown instanceof ServiceError ? thrown : unexpected(thrown, context)
      setRetryAfter(context.response, error.retryAfterSeconds)
      return errorText(id, error)
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

function resultPart(name: string, method: PreparedMethod, result: unknown, context: CallContext): JsonPart {
  const lasting = typeof result === 'object' && result !== null && Object.isFrozen(result)
  const known = lasting ? method.parts.get(result) : undefined
  if (known !== undefined) return known

  const text = method.validateResult(result) ? (JSON.stringify(result) as string | undefined) : undefined
  if (text === undefined) {
    const faults = method.validateResult.errors?.map((error) => `${fieldOf(error, 'result')} ${brokenRuleOf(error)}`)
    context.log.error({ method: name, faults }, 'a result breaks its schema and was not sent')
    throw new ServiceError('RPC_SERVER_ERROR', 'the result is not valid')
  }
  const part = partOf(text)
  if (lasting) method.parts.set(result, part)
  return part
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

/** What breaks the schema of a method's params. */
interface ParamsFault {
  /** The path of the faulty member: `params/0/address`. */
  readonly field: string
  /** What the member must be, in words: `must be a list`. */
  readonly reason: string
}

/** The parts of a schema that describe it in words. */
interface Described {
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly prefixItems?: readonly Described[]
}

/** The most characters of an unknown member's name that are echoed. */
const LONGEST_NAME = 100

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'null',
}

/**
 * Names the faulty member and says in words what is wrong with it. For a union Ajv tells what is wrong with each of its
 * forms: only forms of the type that was sent count, and of these the ones that match deepest.
 *
 * @param errors of a validator that stops at the first one
 */
function faultOf(errors: readonly ErrorObject[]): ParamsFault {
  const depth = Math.max(0, ...errors.map(depthOf))
  const deepest = errors.filter((error) => depthOf(error) === depth)
  const places = deepest.filter(({ instancePath }) => instancePath === deepest[0]?.instancePath)
  const forms = places.filter(({ keyword }) => !UNIONS.has(keyword))
  const ofType = forms.filter(
    ({ keyword, data }) => keyword !== 'type' && (keyword !== 'enum' || typeof data === 'string'),
  )
  const union = places.findLast((error) => UNIONS.has(error.keyword))
  const [error] = ofType.length > 0 ? ofType : forms
  if (error === undefined) return { field: 'params', reason: 'are not valid' }

  const place = `params${error.instancePath}`
  if (ofType.length === 0) return { field: place, reason: `must be ${typesOf(forms)}` }
  const words = ofType.length > 1 ? (wordsFor(union) ?? wordsFor(error)) : (wordsFor(error) ?? wordsFor(union))
  return words === undefined || STRUCTURE.has(error.keyword) ? wordsOf(error, place) : { field: place, reason: words }
}

const UNIONS = new Set(['anyOf', 'oneOf', 'if'])
/**
 * Keywords that are about members and not about a value: for them the schema's description says nothing of the fault.
 */
const STRUCTURE = new Set(['additionalProperties', 'required', 'minItems', 'maxItems', 'items', 'false schema'])

const depthOf = ({ instancePath }: ErrorObject) => instancePath.split('/').length

const describedBy = (error: ErrorObject | undefined) => (error?.parentSchema ?? {}) as Described

function typesOf(forms: readonly ErrorObject[]): string {
  const types = forms.flatMap(({ params }) => (params as { type?: string | string[] }).type ?? 'string')
  const words = [...new Set(types.map((type) => TYPES[type] ?? type))]
  const last = words.pop() ?? 'something else'
  return words.length === 0 ? last : `${words.join(', ')} or ${last}`
}

function wordsOf(error: ErrorObject, place: string): ParamsFault {
  const { keyword, params, schemaPath, message = keyword } = error
  const { properties, prefixItems = [] } = describedBy(error)
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys(properties ?? {})
      return {
        field: `${place}/${String(params['additionalProperty']).slice(0, LONGEST_NAME)}`,
        reason: `is unknown: there is ${inWords(known, 'and')}`,
      }
    }
    case 'required':
      return { field: `${place}/${String(params['missingProperty'])}`, reason: 'is missing' }
    case 'minItems': {
      const names = prefixItems.map((one) => one.title ?? 'a value')
      return {
        field: place,
        reason: names.length > 0 ? `must hold ${inWords(names, 'and')}` : `must hold ${params['limit']} or more`,
      }
    }
    case 'items':
    case 'maxItems': {
      const names = prefixItems.map((one) => one.title ?? 'a value')
      const held = names.length > 0 ? `${inWords(names, 'and')} and nothing more` : `${params['limit']} at most`
      return { field: place, reason: params['limit'] === 0 ? 'must be empty' : `must hold ${held}` }
    }
    case 'false schema': {
      const [, one, other] = /dependentSchemas\/(\w+)\/properties\/(\w+)/.exec(schemaPath) ?? []
      const reason = one === undefined ? 'is not allowed' : `and ${one} exclude each other`
      return { field: place, reason: other === undefined ? 'is not allowed' : reason }
    }
    default:
      return { field: place, reason: message }
  }
}

/** `must be data of 20 bytes in any letter case`; undefined where the schema has no words of its own. */
function wordsFor(error: ErrorObject | undefined): string | undefined {
  const { title, description } = describedBy(error)
  // The description of a member says what it is for. Only a type has a title, too.
  if (title === undefined || description === undefined) return undefined
  return `must be ${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '')
}
