import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'
import { readBody } from './body.ts'
import type { Answer, Exchange } from './fast-lane.ts'
import { createBatchRunner, idOf, refusals, type BatchLimits } from './json-rpc-batch.ts'
import { createCaller, errorText, type RpcMethod } from './json-rpc-call.ts'
import { JsonError, parseJson, type Json } from './lossless-json.ts'

export interface JsonRpcOptions {
  /** What can be called, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>
  readonly limits?: Partial<JsonRpcLimits>
  /**
   * Counts the calls of one message before any runs.
   * @throws ServiceError for a caller who has had enough; each call is answered with it
   */
  readonly admit?: (exchange: Exchange, calls: number) => Promise<void>
}

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
 * A JSON-RPC 2.0 endpoint. Protocol errors are HTTP 200 with an error object; what concerns HTTP itself is thrown, and
 * told by its status as on every other path.
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
    const message = await readMessage(exchange.request, limits)
    if (message instanceof ServiceError) return errorText('null', message)
    if (admit) {
      const calls = Array.isArray(message) ? Math.max(1, message.length) : 1
      const refusal = await admit(exchange, calls).catch(asServiceError)
      if (refusal) return refuse(message, refusal)
    }
    const deadlineMs = performance.now() + limits.answerMs
    if (!Array.isArray(message)) return call(message, exchange, deadlineMs)
    return runBatch(message, exchange, { response: exchange.response, deadlineMs })
  }
}

/** Every call of the message answered with the same error. */
function refuse(message: Json, error: ServiceError): string | Readable {
  if (!Array.isArray(message)) return errorText(idOf(message) ?? 'null', error)
  return message.length === 0 ? errorText('null', error) : Readable.from(refusals(message, error))
}

function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  throw thrown
}

/** The JSON that came, or what to answer to what is none. */
async function readMessage(
  request: IncomingMessage,
  { bodyBytes, depth }: JsonRpcLimits,
): Promise<Json | ServiceError> {
  try {
    return parseJson(await readBody(request, { limitBytes: bodyBytes }), { maxDepth: depth })
  } catch (error) {
    if (error instanceof JsonError) {
      const code = error.fault === 'depth' ? 'RPC_INVALID_REQUEST' : 'RPC_PARSE_ERROR'
      return new ServiceError(code, error.message, { cause: error })
    }
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST') {
      return new ServiceError('RPC_PARSE_ERROR', 'the body could not be read to its end', { cause: error })
    }
    throw error
  }
}
