import type { IncomingMessage } from 'node:http'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { ServiceError } from '../core/errors.ts'
import { describeError, fieldOf } from '../core/validate.ts'
import { readBody } from './body.ts'
import { JsonError, NonIntegerNumber, parseJson, type Json } from './lossless-json.ts'

export interface JsonLimits {
  /** The most bytes of a body. */
  readonly bodyBytes: number
  /** The most levels of nesting. */
  readonly nestingDepth: number
}

/**
 * Reads a JSON body without losing digits. Integers beyond 2^53 come as decimal strings, so that schemas can speak of
 * them; a fraction or an exponent is refused by name, since it would lose what the sender meant.
 *
 * @throws ServiceError INVALID_REQUEST and what {@link readBody} throws
 */
export async function readJson(request: IncomingMessage, { bodyBytes, nestingDepth }: JsonLimits): Promise<unknown> {
  const bytes = await readBody(request, { limitBytes: bodyBytes })
  let json: Json
  try {
    json = parseJson(bytes, { maxDepth: nestingDepth })
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw new ServiceError('INVALID_REQUEST', bytes.length === 0 ? 'the body is empty' : cause.message, { cause })
  }
  return withPlainNumbers(json, '')
}

/**
 * @throws ServiceError INVALID_REQUEST with the faulty fields in the details
 */
export function assertValid(body: unknown, validate: ValidateFunction): void {
  if (validate(body)) return
  const errors = validate.errors ?? []
  const [first] = errors
  throw new ServiceError('INVALID_REQUEST', first ? describeError(first) : 'the body is not valid', {
    details: { fields: errors.map((error) => ({ field: fieldOf(error), problem: error.message ?? error.keyword })) },
  })
}

function withPlainNumbers(json: Json, path: string): unknown {
  if (typeof json === 'bigint') return String(json)
  if (json instanceof NonIntegerNumber) {
    const field = path.slice(1) || 'body'
    throw new ServiceError(
      'INVALID_REQUEST',
      `${field} must be an integer written in full, this is ${clip(json.source)}`,
      {
        details: { fields: [{ field, problem: 'must be an integer written in full' }] },
      },
    )
  }
  if (Array.isArray(json)) return json.map((item, index) => withPlainNumbers(item, `${path}/${index}`))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, withPlainNumbers(value, `${path}/${key}`)]),
  )
}

const clip = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
