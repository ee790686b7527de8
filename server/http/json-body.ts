import type { IncomingMessage } from 'node:http'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { ServiceError } from '../core/errors.ts'
import { fieldOf, type Validate } from '../core/validate.ts'
import { readBody } from './body.ts'
import { JsonError, NonIntegerNumber, parseJson, type Json } from './lossless-json.ts'

export interface JsonLimits {
  /** The most bytes of a body. */
  readonly bodyBytes: number
  /** The most levels of nesting. */
  readonly nestingDepth: number
}

/**
 * Reads a JSON body without losing digits. Integers beyond 2^53 become decimal strings, so that schemas can describe them.
 * A number with a fraction or an exponent is refused, and the answer names it: it could not be read exactly.
 *
 * @param admitBytes called with the length of the unpacked body before it is parsed; it may refuse the body
 * @throws ServiceError INVALID_REQUEST and what {@link readBody} and `admitBytes` throw
 */
export async function readJson(
  request: IncomingMessage,
  { bodyBytes, nestingDepth }: JsonLimits,
  admitBytes?: (bytes: number) => Promise<void>,
): Promise<unknown> {
  const bytes = await readBody(request, { limitBytes: bodyBytes })
  await admitBytes?.(bytes.length)
  return parseBody(bytes, nestingDepth)
}

/**
 * The body of {@link readJson}, once it is read.
 *
 * @throws ServiceError INVALID_REQUEST
 */
export function parseBody(bytes: Uint8Array, nestingDepth?: number): unknown {
  let json: Json
  try {
    json = parseJson(bytes, nestingDepth === undefined ? {} : { maxDepth: nestingDepth })
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw new ServiceError('INVALID_REQUEST', bytes.length === 0 ? 'the body is empty' : cause.message, { cause })
  }
  return withPlainNumbers(json, [])
}

/**
 * @throws ServiceError INVALID_REQUEST with the faulty fields in the details
 */
export function assertValid(body: unknown, validate: Validate): void {
  if (validate(body)) return
  const errors = validate.errors ?? []
  // Ajv tells what is wrong with each form of a union, and then that none fits: the last says it all.
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf')
  const told = errors.filter(
    (error) => unions.includes(error) || !unions.some(({ instancePath }) => instancePath === error.instancePath),
  )
  const fields = told.map((error) => ({ field: fieldOf(error), problem: problemOf(error) }))
  const [first] = fields
  throw new ServiceError('INVALID_REQUEST', first ? `${first.field} ${first.problem}` : 'the body is not valid', {
    details: { fields },
  })
}

/** `must be an integer, a decimal string or 0x hex; this is ""`: the titles of the forms that a union takes. */
function problemOf(error: ErrorObject): string {
  const forms = error.keyword === 'anyOf' ? (error.schema as readonly { readonly title?: string }[]) : []
  const titles = forms.flatMap(({ title }) => title ?? [])
  if (titles.length < 2) return error.message ?? error.keyword
  return `must be ${titles.slice(0, -1).join(', ')} or ${titles.at(-1)}; this is ${nameOf(error.data)}`
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value !== 'object' || value === null) return clip(JSON.stringify(value) ?? 'absent')
  const isBigNumber = 'hex' in value || '_hex' in value
  return isBigNumber ? 'a BigNumber of ethers v5: send what its toString() returns' : 'an object'
}

/** In place. @param path to the value */
function withPlainNumbers(json: Json, path: (string | number)[]): unknown {
  if (typeof json === 'bigint') return String(json)
  if (typeof json !== 'object' || json === null) return json
  if (json instanceof NonIntegerNumber) throw noInteger(json, path)
  const keys = Array.isArray(json) ? json.keys() : Object.keys(json)
  for (const key of keys) {
    const member = (json as Readonly<Record<string | number, Json>>)[key] ?? null
    if (typeof member !== 'object' && typeof member !== 'bigint') continue
    path.push(key)
    const value = withPlainNumbers(member, path)
    path.pop()
    // An assignment to `__proto__` would change the prototype; here it is an ordinary key.
    if (value !== member) Object.defineProperty(json, key, { value })
  }
  return json
}

function noInteger({ source }: NonIntegerNumber, path: readonly (string | number)[]): ServiceError {
  const field = clip(path.join('/')) || 'body'
  // Such a number has lost its last digits where it was made.
  const isLossy = Math.abs(Number(source)) > Number.MAX_SAFE_INTEGER
  const advice = isLossy ? ': a JSON number of this size loses digits, send it as a string' : ''
  const problem = `must be an integer written in full, this is ${clip(source)}${advice}`
  return new ServiceError('INVALID_REQUEST', `${field} ${problem}`, { details: { fields: [{ field, problem }] } })
}

const clip = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
