import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../core/errors.ts'
import { readBody } from './body.ts'
import type { Answer, Exchange } from './fast-lane.ts'
import { createBatchRunner, idOf, type BatchLimits } from './json-rpc-batch.ts'
import { createCaller, errorText, type RpcMethod } from './json-rpc-call.ts'
import { JsonError, parseJson, type Json } from './lossless-json.ts'

export interface JsonRpcOptions {
  /** What can be called, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>
  readonly limits?: Partial<JsonRpcLimits>
  /**
   * Counts what a caller sends. Each throws ServiceError when the caller is over its limit; the error answers the whole
   * message.
   */
  readonly admit?: Admission
}

export interface Admission {
  /** Called with 1 before a message is read, and with the number of its further calls before any of them runs. */
  readonly calls: (exchange: Exchange, calls: number) => Promise<void>
  /** Called with the length of the unpacked message before it is parsed. */
  readonly bytes: (exchange: Exchange, bytes: number) => Promise<void>
}

/** When a caller is over its limit, a message of at most so many bytes is still read, to answer with its id. */
const SMALL_BYTES = 4096

export interface JsonRpcLimits extends BatchLimits {
  /** The most bytes of a body, unpacked. Default 1 MiB. */
  readonly bodyBytes: number
  /** How deep arrays and objects of a body may nest. Default 32. */
  readonly depth: number
  /** How long a message may take, a batch as a whole, from the end of its body to its answer. Default 20,000. */
  readonly answerMs: number
}

const defaultLimits: JsonRpcLimits = {
  bodyBytes: 1024 * 1024,
  depth: 32,
  answerMs: 20_000,
  batchLength: 1_000,
  batchResponseBytes: 10 * 1024 * 1024,
  concurrentBatches: 4,
  concurrentCallsPerBatch: 32,
}

/**
 * A JSON-RPC 2.0 endpoint. Protocol errors are answered by HTTP 200 with an error object. Errors of HTTP itself are
 * thrown, and answered by their status as on every other path.
 *
 * Beyond JSON-RPC 2.0: every request needs an id (the document requires one), so there are no notifications; ids are
 * echoed as they were written, numbers of any size included.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export function jsonRpcEndpoint({ methods, limits: given = {}, admit }: JsonRpcOptions): Answer {
  const limits = { ...defaultLimits, ...given }
  const call = createCaller(methods)
  const runBatch = createBatchRunner(call, limits)

  return async (exchange) => {
    try {
      await admit?.calls(exchange, 1)
    } catch (thrown) {
      return errorText(await idOfSmall(exchange.request, limits), asServiceError(thrown))
    }
    let message: Json
    try {
      message = await readMessage(exchange, limits, admit)
      if (!Array.isArray(message)) return await call(message, exchange, performance.now() + limits.answerMs)
      if (message.length === 0) throw invalid('a batch holds at least one request')
      if (message.length > limits.batchLength) throw invalid(`a batch holds at most ${limits.batchLength} requests`)
      if (message.length > 1) await admit?.calls(exchange, message.length - 1)
    } catch (thrown) {
      // One error for the whole message: an error for each call would be many times what was sent.
      const error = asServiceError(thrown)
      if (isOfHttp(error)) throw error
      return errorText('null', error)
    }
    const deadlineMs = performance.now() + limits.answerMs
    return runBatch(message, exchange, { response: exchange.response, deadlineMs })
  }
}

const invalid = (reason: string) => new ServiceError('RPC_INVALID_REQUEST', reason)

const isOfHttp = ({ code }: ServiceError) => code === 'PAYLOAD_TOO_LARGE' || code === 'UNSUPPORTED_MEDIA_TYPE'

/** Reads the id of a small message. */
async function idOfSmall(request: IncomingMessage, { depth }: JsonRpcLimits): Promise<string> {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers
  if (encoding !== undefined || !(Number(length) <= SMALL_BYTES)) return 'null'
  try {
    return idOf(parseJson(await readBody(request, { limitBytes: SMALL_BYTES }), { maxDepth: depth })) ?? 'null'
  } catch {
    return 'null'
  }
}

function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  throw thrown
}

/** Reads a message as JSON. @throws ServiceError */
async function readMessage(
  exchange: Exchange,
  { bodyBytes, depth }: JsonRpcLimits,
  admit: Admission | undefined,
): Promise<Json> {
  try {
    const bytes = await readBody(exchange.request, { limitBytes: bodyBytes })
    await admit?.bytes(exchange, bytes.length)
    return parseJson(bytes, { maxDepth: depth })
  } catch (error) {
    if (error instanceof JsonError) {
      const isJson = error.fault === 'depth' || error.fault === 'number'
      throw new ServiceError(isJson ? 'RPC_INVALID_REQUEST' : 'RPC_PARSE_ERROR', error.message, { cause: error })
    }
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST') {
      throw new ServiceError('RPC_PARSE_ERROR', 'the body could not be read to its end', { cause: error })
    }
    throw error
  }
}
