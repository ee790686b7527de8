import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../core/errors.ts'
import { describeError, fieldOf, type Validate } from '../core/validate.ts'
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
  let json: Json
  try {
    json = parseJson(bytes, { maxDepth: nestingDepth })
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
  const [first] = errors
  throw new ServiceError('INVALID_REQUEST', first ? describeError(first) : 'the body is not valid', {
    details: { fields: errors.map((error) => ({ field: fieldOf(error), problem: error.message ?? error.keyword })) },
  })
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
  const problem = 'must be an integer written in full'
  return new ServiceError('INVALID_REQUEST', `${field} ${problem}, this is ${clip(source)}`, {
    details: { fields: [{ field, problem }] },
  })
}

const clip = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
