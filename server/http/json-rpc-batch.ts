import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import { errorText, idText, isObject, type CallContext, type Caller } from './json-rpc-call.ts'
import type { Json } from './lossless-json.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { withinTime } from '../concurrency/within-time.ts'

export interface BatchLimits {
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

/** How long one batch may use the event loop before others get their turn, in milliseconds. */
const SLICE_MS = 1

/** A batch of at most so many requests runs without waiting, as so many single requests would. */
const SHORT_BATCH = 10
/** A batch whose caller reads more slowly than this gives its place to others, in milliseconds. */
const DELIVERY_MS = 5_000

/** Where the answer of a batch goes, and by when. */
export interface BatchAnswer {
  /** The size of the answer counts against the batches that run until it is delivered. */
  readonly response: ServerResponse
  /** On the clock of `performance.now()`. A request without an answer by then is answered with an error. */
  readonly deadlineMs: number
}

/** Runs the requests of a batch, at least one, and answers in their order. */
export function createBatchRunner(
  call: Caller,
  limits: BatchLimits,
): (requests: readonly Json[], context: CallContext, answer: BatchAnswer) => Promise<string> {
  const running = new Semaphore(limits.concurrentBatches)

  return async (requests, context, { response, deadlineMs }) => {
    const run = () => runBatch(requests, (request) => call(request, context, deadlineMs), limits)
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
  call: (request: Json) => Promise<string>,
  limits: BatchLimits,
): Promise<string> {
  const answers = new Array<string>(requests.length)
  let next = 0
  let length = 0
  let sliceStart = performance.now()
  let pause: Promise<void> | undefined
  /** One pause for all running batches: with a pause of its own each batch would use a slice in the same turn. */
  const pauseForOthers = () =>
    (pause ??= nextTurn().then(() => {
      sliceStart = performance.now()
      pause = undefined
    }))

  const worker = async () => {
    for (;;) {
      while (performance.now() - sliceStart > SLICE_MS) await pauseForOthers()
      if (next >= requests.length) return
      const index = next++
      const request = requests[index] ?? null
      const answer = length >= limits.batchResponseBytes ? undefined : await call(request)
      // Answers that run at the same time may each be large; one that does not fit is dropped here.
      const fits = answer !== undefined && (length === 0 || length + answer.length <= limits.batchResponseBytes)
      const told = fits ? answer : tooLong(request, limits)
      answers[index] = told
      if (fits) length += told.length
    }
  }
  await Promise.all(Array.from({ length: limits.concurrentCallsPerBatch }, worker))
  return `[${answers.join(',')}]`
}

function tooLong(request: Json, { batchResponseBytes }: BatchLimits): string {
  return errorText(
    idOf(request) ?? 'null',
    new ServiceError('RPC_RESPONSE_TOO_LARGE', `the batch has more than ${batchResponseBytes} bytes`),
  )
}

/** The id of a request as it was written; undefined when there is none to echo. */
export const idOf = (request: Json) => (isObject(request) ? idText(request['id']) : undefined)
