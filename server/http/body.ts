import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { afterThisTurn } from '../concurrency/after-this-turn.ts'
import { ownTurn } from '../concurrency/own-turn.ts'
import { ServiceError } from '../core/errors.ts'
import { inWords } from '../core/in-words.ts'
import { brokenRuleOf, fieldOf, type Validate } from '../core/validate.ts'
import { JsonError, NonIntegerNumber, parseJson, type Json } from './lossless-json.ts'

interface BodyLimits {
  /** The most bytes that a body may have, unpacked. */
  readonly limitBytes: number
  /** How long the sender may take for the whole body. Default 30,000. */
  readonly timeoutMs?: number
}

/**
 * A body may come in so many pieces, and in more where they have {@link LEAST_PIECE_BYTES} on average. Each piece costs
 * some microseconds and some hundred bytes, however small it is.
 */
const MOST_PIECES = 1024
const LEAST_PIECE_BYTES = 64

/** So many bytes of a refused body are still read and thrown away, so that its sender can read the answer. */
const LINGER_BYTES = 16 * 1024 * 1024
const LINGER_MS = 5_000
/** A piece of a refused body counts as at least so many bytes. */
const LINGER_PIECE_BYTES = 1024

/**
 * A packed body may unpack to at most so many times its bytes. A batch unpacks to about 4 times, zeros to 1,000 times.
 */
const MOST_PACKED = 32
/** A packed body may unpack to so many bytes in any case. */
const ALWAYS_UNPACKED_BYTES = 16 * 1024

/** What is done with a longer body takes a turn of its own. */
const SHORT_BYTES = 16 * 1024

const unpack = promisify(gunzip)

/**
 * Reads the body of a JSON request: `application/json` (or `…+json`, `application/json-rpc`) in UTF-8, or no content
 * type at all; as it is or packed by gzip, at most {@link MOST_PACKED} times. Nothing beyond the limit is kept, neither
 * packed nor unpacked.
 *
 * @returns the bytes; none at all is an empty buffer
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE; INVALID_REQUEST when the body breaks off, comes too
 *   slowly or cannot be unpacked
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const fault = mediaTypeFault(request.headers['content-type'])
  if (fault !== undefined) throw refuse(request, new ServiceError('UNSUPPORTED_MEDIA_TYPE', fault))

  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  switch (encoding) {
    case '':
    case 'identity':
      return joined(await readPieces(request, limits))
    case 'gzip':
    case 'x-gzip':
      return unpackWithin(await joined(await readPieces(request, limits)), limits.limitBytes)
    default:
      throw refuse(request, new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'the encodings are identity and gzip'))
  }
}

/** @returns what is wrong with a content type; undefined when nothing is */
function mediaTypeFault(header: string | undefined): string | undefined {
  if (header === undefined || header === 'application/json') return undefined
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  if (type !== '' && !/^application\/(?:json|json-rpc|jsonrequest|[a-z0-9.!#$&^_-]+\+json)$/.test(type)) {
    return 'the content type is application/json'
  }
  const charset = parameters.find((parameter) => /^charset\s*=/.test(parameter))?.replace(/^charset\s*=\s*|"/g, '')
  return charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset) ? undefined : 'the charset is UTF-8'
}

function readPieces(
  request: IncomingMessage,
  { limitBytes, timeoutMs = 30_000 }: BodyLimits,
): Promise<readonly Buffer[]> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    return Promise.reject(refuse(request, tooLarge(limitBytes)))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let isSettled = false
    let timer: NodeJS.Timeout | undefined
    const settle = () => {
      isSettled = true
      clearTimeout(timer)
    }
    const fail = (error: ServiceError) => {
      settle()
      chunks.length = 0
      reject(error)
    }
    const onBroken = () => {
      if (!request.complete) fail(new ServiceError('INVALID_REQUEST', 'the body breaks off'))
    }
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return
      bytes += chunk.length
      if (bytes > limitBytes) fail(refuse(request, tooLarge(limitBytes)))
      else if (chunks.push(chunk) > MOST_PIECES && bytes < chunks.length * LEAST_PIECE_BYTES) {
        fail(refuse(request, new ServiceError('INVALID_REQUEST', 'the body comes in too many small pieces')))
      }
    })
    request.on('end', () => {
      settle()
      resolve(chunks)
    })
    // Most bodies arrive together with their headers, and need no timer.
    afterThisTurn(() => {
      if (isSettled) return
      timer = setTimeout(() => {
        fail(refuse(request, new ServiceError('INVALID_REQUEST', 'the body comes too slowly')))
      }, timeoutMs)
      // The listeners stay: the socket may break later, and an error without a listener would end the process.
      request.on('error', onBroken)
      request.on('close', onBroken)
      if (request.destroyed) onBroken()
    })
  })
}

async function joined(pieces: readonly Buffer[]): Promise<Buffer> {
  const [first, ...others] = pieces
  if (first && others.length === 0) return first
  await turnForLong(pieces.reduce((sum, { length }) => sum + length, 0))
  return Buffer.concat(pieces)
}

/** What takes milliseconds for a long body waits here before it is done. */
export async function turnForLong(bytes: number): Promise<void> {
  if (bytes > SHORT_BYTES) await ownTurn()
}

async function unpackWithin(packed: Buffer, limitBytes: number): Promise<Buffer> {
  // One byte is the least that zlib takes as a limit.
  const mostBytes = Math.max(1, Math.min(limitBytes, Math.max(ALWAYS_UNPACKED_BYTES, MOST_PACKED * packed.length)))
  try {
    return await unpack(packed, { maxOutputLength: mostBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      if (mostBytes >= limitBytes) throw tooLarge(limitBytes)
      throw new ServiceError('PAYLOAD_TOO_LARGE', `${packed.length} bytes of gzip hold at most ${mostBytes} bytes`)
    }
    throw new ServiceError('INVALID_REQUEST', 'the body is not gzip', { cause })
  }
}

const tooLarge = (limitBytes: number) => new ServiceError('PAYLOAD_TOO_LARGE', `the limit is ${limitBytes} bytes`)

/**
 * Reads the rest of a refused body for a while, and drops it. If the server closed the connection at once, a sender that
 * is still writing would see a reset connection in place of the answer.
 */
function refuse(request: IncomingMessage, error: ServiceError): ServiceError {
  let bytes = 0
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref()
  request
    .on('data', (chunk: Buffer) => {
      bytes += Math.max(chunk.length, LINGER_PIECE_BYTES)
      if (bytes > LINGER_BYTES) request.socket.destroy()
    })
    .on('close', () => clearTimeout(timer))
    .on('error', () => {})
  return error
}

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
  await turnForLong(bytes.length)
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
  if (titles.length < 2) return brokenRuleOf(error)
  return `must be ${inWords(titles, 'or')}; this is ${nameOf(error.data)}`
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
