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
  /** What the answers of one batch may sum up to; later ones are errors. Default 10 MiB. */
  readonly batchResponseBytes: number
  /**
   * How many long batches run at a time, or are on their way to the caller; others wait in line. Single requests and short
   * batches do not. Default 4.
   */
  readonly concurrentBatches: number
  /** How many requests of one batch run at a time. Default 32: a node far away is asked so often at once. */
  readonly concurrentCallsPerBatch: number
}

/** How long one batch may keep the process to itself. */
const SLICE_MS = 1

/** The most requests of a batch that runs at once, as so many single requests would: clients bundle what they ask. */
const SHORT_BATCH = 10
/** A caller who reads no faster than this does not keep others waiting any longer. */
const DELIVERY_MS = 5_000

/** Where the answer of a batch goes, and until when. */
export interface BatchAnswer {
  /** The size of the answer counts against the batches that run until it is delivered. */
  readonly response: ServerResponse
  /** On the clock of `performance.now()`. What has no answer by then is answered by an error. */
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
    // Who has gone meanwhile reads no answer; the place is given back at once.
    const text = response.closed ? '' : await run()
    if (response.closed) release()
    else releaseOnDelivery(response, release)
    return text
  }
}

/** A place among those that run; none, when the time is over first: all that is left to do then is to say so. */
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

/** Never rejects, as its calls do not. */
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
  /** One for all that run: each by itself would begin a slice of its own in the same turn. */
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
      // Those that run at the same time may each be large: what does not fit is not kept.
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

/** The id of a request as it was written; undefined where there is none to echo. */
export const idOf = (request: Json) => (isObject(request) ? idText(request['id']) : undefined)
