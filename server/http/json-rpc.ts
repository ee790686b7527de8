import type { IncomingMessage, ServerResponse } from 'node:http'
import { ServiceError } from '../core/errors.ts'
import { readBody, turnForLong } from './body.ts'
import type { Answer, Exchange } from './fast-lane.ts'
import {
  createCaller,
  errorText,
  type RpcMethod,
  idText,
  isObject,
  type CallContext,
  type Caller,
} from './json-rpc-call.ts'
import { type JsonText, listOf, sizeOf } from './json-text.ts'
import { JsonError, parseJson, type Json } from './lossless-json.ts'
import { ownTurn } from '../concurrency/own-turn.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { createSlices } from '../concurrency/slices.ts'
import { withinTime } from '../concurrency/within-time.ts'

interface JsonRpcOptions {
  /** What can be called, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>
  readonly limits?: Partial<JsonRpcLimits>
  /**
   * Counts what a caller sends. Each throws ServiceError when the caller is over its limit; the error answers the whole
   * message.
   */
  readonly admit?: Admission
}

interface Admission {
  /** Called with 1 before a message is read, and with the number of its further calls before any of them runs. */
  readonly calls: (exchange: Exchange, calls: number) => Promise<void>
  /** Called with the length of the unpacked message before it is parsed. */
  readonly bytes: (exchange: Exchange, bytes: number) => Promise<void>
}

/** When a caller is over its limit, a message of at most so many bytes is still read, to answer with its id. */
const SMALL_BYTES = 4096

/** A batch may hold so many values and keys for each of its calls on average. A call without parameters has nine. */
const VALUES_PER_CALL = 32
/** A message may hold so many in any case: 1 MiB of addresses are 23,000. */
const LEAST_VALUES = 32_000

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

  const answer: Answer = async (exchange) => {
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
  return async (exchange) => {
    const text = await answer(exchange)
    // Hundreds may have waited for the same large answer.
    if (typeof text !== 'string') await ownTurn()
    return text
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
  { bodyBytes, depth, batchLength }: JsonRpcLimits,
  admit: Admission | undefined,
): Promise<Json> {
  try {
    const bytes = await readBody(exchange.request, { limitBytes: bodyBytes })
    await admit?.bytes(exchange, bytes.length)
    await turnForLong(bytes.length)
    const maxValues = Math.max(LEAST_VALUES, batchLength * VALUES_PER_CALL)
    return parseJson(bytes, { maxDepth: depth, maxValues })
  } catch (error) {
    if (error instanceof JsonError) {
      const isJson = error.fault !== 'syntax' && error.fault !== 'encoding'
      throw new ServiceError(isJson ? 'RPC_INVALID_REQUEST' : 'RPC_PARSE_ERROR', error.message, { cause: error })
    }
    if (error instanceof ServiceError && error.code === 'INVALID_REQUEST') {
      throw new ServiceError('RPC_PARSE_ERROR', 'the body could not be read to its end', { cause: error })
    }
    throw error
  }
}

interface BatchLimits {
  /** The most requests in a batch. Default 1,000, as viem sends them. */
  readonly batchLength: number
  /** The most bytes of all answers of one batch. Answers beyond them become errors. Default 10 MiB. */
  readonly batchResponseBytes: number
  /**
   * How many long batches run, or are being delivered, at a time; further ones wait. Single requests and short batches
   * do not wait. Default 4.
   */
  readonly concurrentBatches: number
  /**
   * How many requests of one batch run at a time. Default 32, so that a batch does not wait for a distant node 1,000
   * times.
   */
  readonly concurrentCallsPerBatch: number
}

/** How long all batches together may use the event loop in one of its turns, in milliseconds. */
const SLICE_MS = 1

/** A batch of at most so many requests runs without waiting, as so many single requests would. */
const SHORT_BATCH = 10
/** A batch whose caller reads more slowly than this gives its place to others, in milliseconds. */
const DELIVERY_MS = 5_000

/** Where the answer of a batch goes, and by when. */
interface BatchAnswer {
  /** The size of the answer counts against the batches that run until it is delivered. */
  readonly response: ServerResponse
  /** On the clock of `performance.now()`. A request without an answer by then is answered with an error. */
  readonly deadlineMs: number
}

/** Runs the requests of a batch, at least one, and answers in their order. */
function createBatchRunner(
  call: Caller,
  limits: BatchLimits,
): (requests: readonly Json[], context: CallContext, answer: BatchAnswer) => Promise<JsonText> {
  const running = new Semaphore(limits.concurrentBatches)
  const inSlice = createSlices(SLICE_MS)

  return async (requests, context, { response, deadlineMs }) => {
    const callInSlice = (request: Json) => inSlice(() => call(request, context, deadlineMs))
    const run = () => runBatch(requests, callInSlice, limits)
    if (requests.length <= SHORT_BATCH) return run()
    const release = await placeBefore(deadlineMs, running)
    // A client that has closed its connection reads no answer, so the batch is not run.
    const text = response.closed ? '' : await run()
    if (response.closed) release()
    else releaseOnDelivery(response, release)
    return text
  }
}

/**
 * Waits for a place among the batches that run. At the deadline it goes on without one: only errors are left to write.
 */
async function placeBefore(deadlineMs: number, running: Semaphore): Promise<() => void> {
  const place = running.acquire()
  try {
    return await withinTime(place, deadlineMs, () => new Error('late'))
  } catch {
    void place.then((release) => release())
    return () => {}
  }
}

function releaseOnDelivery(response: ServerResponse, release: () => void): void {
  const timer = setTimeout(release, DELIVERY_MS)
  response.once('close', () => {
    clearTimeout(timer)
    release()
  })
}

/** Runs the requests of one batch. It never rejects, because its calls never reject. */
async function runBatch(
  requests: readonly Json[],
  call: (request: Json) => Promise<JsonText>,
  limits: BatchLimits,
): Promise<JsonText> {
  const answers = new Array<JsonText>(requests.length)
  let next = 0
  let length = 0

  const worker = async () => {
    while (next < requests.length) {
      const index = next++
      const request = requests[index] ?? null
      const answer = length >= limits.batchResponseBytes ? undefined : await call(request)
      // Answers that run at the same time may each be large; one that does not fit is dropped here.
      const fits = answer !== undefined && (length === 0 || length + sizeOf(answer) <= limits.batchResponseBytes)
      const told = fits ? answer : tooLong(request, limits)
      answers[index] = told
      if (fits) length += sizeOf(told)
    }
  }
  await Promise.all(Array.from({ length: limits.concurrentCallsPerBatch }, worker))
  return listOf(answers)
}

function tooLong(request: Json, { batchResponseBytes }: BatchLimits): string {
  return errorText(
    idOf(request) ?? 'null',
    new ServiceError('RPC_RESPONSE_TOO_LARGE', `the batch has more than ${batchResponseBytes} bytes`),
  )
}

/** The id of a request as it was written; undefined when there is none to echo. */
const idOf = (request: Json) => (isObject(request) ? idText(request['id']) : undefined)
