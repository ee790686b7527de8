import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ServiceError } from '../core/errors.ts'

export interface BodyLimits {
  /** The most bytes that a body may have, unpacked. */
  readonly limitBytes: number
  /** How long the sender may take for the whole body. Default 30,000. */
  readonly timeoutMs?: number
}

/** So many bytes of a refused body are still read and thrown away, so that its sender can read the answer. */
const LINGER_BYTES = 16 * 1024 * 1024
const LINGER_MS = 5_000

/**
 * A packed body may unpack to at most so many times its bytes. A batch unpacks to about 4 times, zeros to 1,000 times.
 */
const MOST_PACKED = 32
/** A packed body may unpack to so many bytes in any case. */
const ALWAYS_UNPACKED_BYTES = 16 * 1024

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
      return readBytes(request, limits)
    case 'gzip':
    case 'x-gzip':
      return unpackWithin(await readBytes(request, limits), limits.limitBytes)
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

function readBytes(request: IncomingMessage, { limitBytes, timeoutMs = 30_000 }: BodyLimits): Promise<Buffer> {
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
      reject(error)
    }
    const onBroken = () => {
      if (!request.complete) fail(new ServiceError('INVALID_REQUEST', 'the body breaks off'))
    }
    request.on('data', (chunk: Buffer) => {
      const isWithin = bytes <= limitBytes
      bytes += chunk.length
      if (bytes <= limitBytes) chunks.push(chunk)
      else if (isWithin) fail(refuse(request, tooLarge(limitBytes)))
    })
    request.on('end', () => {
      settle()
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    })
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

const planned: (() => void)[] = []

/** Most bodies arrive together with their headers. So the timer starts one turn later, when it is still needed. */
function afterThisTurn(task: () => void): void {
  if (planned.push(task) > 1) return
  setImmediate(() => {
    for (const one of planned.splice(0)) one()
  })
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
      bytes += chunk.length
      if (bytes > LINGER_BYTES) request.socket.destroy()
    })
    .on('close', () => clearTimeout(timer))
    .on('error', () => {})
  return error
}
