import { errors, Pool, type Dispatcher } from 'undici'
import { Semaphore } from '../../concurrency/semaphore.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'
import { environmentProxy, proxyRefusal } from './environment-proxy.ts'
import {
  authorization,
  LOG_CALLS_AT_A_TIME,
  inMs,
  NodeFailure,
  RESPONSE_BYTES,
  resultOf,
  TOO_LARGE,
  type NodeConnection,
  type RpcResponse,
} from './node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from './upstream.ts'

/** HTTP requests at a time. Calls beyond them wait, and are sent together. */
const REQUESTS_AT_A_TIME = 8
const POOL = { connections: 2 * REQUESTS_AT_A_TIME, maxResponseSize: RESPONSE_BYTES }
/** The most calls in one HTTP request. It is halved whenever the node refuses a batch. */
const BATCH_LENGTH = 50
/** The most groups of calls that share a request. */
const MAX_GROUPS = 16
/** HTTP requests with groups at a time: while the node works on one, the next is on its way. */
const MAX_GROUP_REQUESTS = 2

/** Statuses by which a gateway in front of the node says that it is busy, whatever its body says. */
const BUSY = new Set([429, 502, 503, 504])
/** Statuses by which a gateway refuses a call that asks for too much. */
const UNPROCESSABLE = new Set([400, 422])

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  readonly timeoutMs: number
  readonly traceparent: string | undefined
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Calls that the node gets in this order. */
interface Group {
  readonly calls: readonly UpstreamCall[]
  readonly timeoutMs: number
  readonly traceparent: string | undefined
}

/**
 * One node over HTTP. Connections are kept alive. While few calls are under way, each call has a request of its own. Calls
 * that have to wait are sent together, as a batch, as soon as a request is done.
 */
export class HttpNode implements NodeConnection {
  readonly name: string
  onOpen: () => void = () => {}
  readonly #dispatcher: Dispatcher
  readonly #origin: string
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #waiting: Call[] = []
  readonly #logCalls = new Semaphore(LOG_CALLS_AT_A_TIME)
  #underWay = 0
  #connections = 0
  #batchLength = BATCH_LENGTH
  #flushPlanned = false
  /** Groups that come while such requests are under way go along with the next request. */
  readonly #postTogether = microBatch(
    async (groups: readonly Group[]) => {
      const outcomes = await this.#postGroups(groups)
      let next = 0
      return groups.map(({ calls }) => outcomes.slice(next, (next += calls.length)))
    },
    { maxItems: MAX_GROUPS, maxRuns: MAX_GROUP_REQUESTS },
  )

  constructor(rpcUrl: string) {
    const url = new URL(rpcUrl)
    this.name = url.host
    this.#path = `${url.pathname}${url.search}`
    this.#headers = { 'content-type': 'application/json', ...authorization(url) }
    this.#origin = url.origin
    const poolOf = (origin: string, options: Pool.Options) => this.#watched(new Pool(origin, { ...options, ...POOL }))
    this.#dispatcher = environmentProxy(poolOf) ?? poolOf(url.origin, {})
  }

  #watched(pool: Pool): Pool {
    pool.on('connect', () => {
      if (this.#connections++ === 0) this.onOpen()
    })
    pool.on('disconnect', () => void this.#connections--)
    return pool
  }

  get isOpen(): boolean {
    return this.#connections > 0
  }

  call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call: Call = { method, params, timeoutMs, traceparent, resolve, reject }
      // These two are never part of a batch: eth_getLogs may be too much by itself, a transaction must not be sent
      // twice.
      if (method === 'eth_getLogs') return void this.#sendInTurn(call)
      if (method === 'eth_sendRawTransaction') return void this.#sendOne(call)
      this.#waiting.push(call)
      if (this.#flushPlanned) return
      this.#flushPlanned = true
      // At the end of this turn all its calls are known, so they can share a request.
      queueMicrotask(() => {
        this.#flushPlanned = false
        this.#flush()
      })
    })
  }

  /**
   * Groups that come at the same time share one HTTP request. A node that takes no batches gets one call after the
   * other.
   */
  callTogether(
    calls: readonly UpstreamCall[],
    timeoutMs: number,
    traceparent?: string,
  ): readonly Promise<PromiseSettledResult<unknown>>[] {
    const outcomes = this.#postTogether({ calls, timeoutMs, traceparent })
    return calls.map(async (_, index) => (await outcomes)[index] ?? unanswered)
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy()
  }

  async #postGroups(groups: readonly Group[]): Promise<PromiseSettledResult<unknown>[]> {
    const calls = groups.flatMap((group) => group.calls)
    const timeoutMs = Math.max(...groups.map((group) => group.timeoutMs))
    const traceparent = groups.find((group) => group.traceparent)?.traceparent
    let answers: unknown
    try {
      if (calls.length > 1) answers = await this.#post(batchOf(calls), timeoutMs, traceparent)
    } catch (error) {
      if (!(error instanceof UpstreamRpcError)) return calls.map(() => ({ status: 'rejected', reason: error }))
    }
    if (!Array.isArray(answers)) {
      const outcomes: PromiseSettledResult<unknown>[] = []
      for (const { method, params } of calls) {
        outcomes.push(...(await Promise.allSettled([this.call(method, params, timeoutMs, traceparent)])))
      }
      return outcomes
    }
    const byId = new Map(answers.map((answer: RpcResponse | null) => [answer?.id, answer]))
    return Promise.allSettled(calls.map(async (_, index) => resultOf(byId.get(index))))
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#underWay < REQUESTS_AT_A_TIME) {
      const share = Math.ceil(this.#waiting.length / (REQUESTS_AT_A_TIME - this.#underWay))
      const calls = this.#waiting.splice(0, Math.min(share, this.#batchLength))
      this.#underWay++
      const [first] = calls
      const sent = calls.length === 1 && first ? this.#sendOne(first) : this.#sendBatch(calls)
      void sent.finally(() => {
        this.#underWay--
        this.#flush()
      })
    }
  }

  /** The time in the queue is part of the timeout. A call that has timed out in the queue is not sent. */
  #sendInTurn(call: Call): Promise<void> {
    const deadlineMs = performance.now() + call.timeoutMs
    return this.#logCalls.run(async () => {
      const timeoutMs = Math.floor(deadlineMs - performance.now())
      if (timeoutMs > 0) return this.#sendOne({ ...call, timeoutMs })
      call.reject(new NodeFailure(`no turn within ${call.timeoutMs} ms`, 'waiting'))
    })
  }

  async #sendOne(call: Call): Promise<void> {
    try {
      const answer = await this.#post(bodyOf(call, 1), call.timeoutMs, call.traceparent, call.method === 'eth_getLogs')
      call.resolve(resultOf(answer as RpcResponse))
    } catch (error) {
      this.#giveUpWaiting(error)
      call.reject(asError(error))
    }
  }

  async #sendBatch(calls: readonly Call[]): Promise<void> {
    const body = batchOf(calls)
    const timeoutMs = Math.max(...calls.map((call) => call.timeoutMs))
    let answers: unknown
    try {
      answers = await this.#post(body, timeoutMs, calls.find((call) => call.traceparent)?.traceparent)
    } catch (error) {
      this.#giveUpWaiting(error)
      if (!(error instanceof UpstreamRpcError)) {
        for (const call of calls) call.reject(asError(error))
        return
      }
      answers = error
    }
    if (!Array.isArray(answers)) {
      // The node gave one answer for all calls: it takes no batches, or none of this length.
      this.#batchLength = Math.max(1, Math.floor(calls.length / 2))
      await Promise.all(calls.map((call) => this.#sendOne(call)))
      return
    }
    const byId = new Map(answers.map((answer: RpcResponse | null) => [answer?.id, answer]))
    calls.forEach((call, index) => {
      try {
        call.resolve(resultOf(byId.get(index)))
      } catch (error) {
        call.reject(asError(error))
      }
    })
  }

  /** When the node asks to be left alone, the calls that wait for their turn fail too. */
  #giveUpWaiting(error: unknown): void {
    if (!(error instanceof NodeFailure) || error.retryAfterMs === undefined) return
    for (const call of this.#waiting.splice(0)) call.reject(error)
  }

  async #post(
    body: string,
    timeoutMs: number,
    traceparent: string | undefined,
    mayBeTooMuch = false,
  ): Promise<unknown> {
    try {
      const headers = traceparent === undefined ? this.#headers : { ...this.#headers, traceparent }
      const answer = await postText(this.#dispatcher, {
        origin: this.#origin,
        path: this.#path,
        headers,
        body,
        timeoutMs,
      })
      return readAnswer(answer, mayBeTooMuch)
    } catch (error) {
      throw error instanceof TimeoutError ? new NodeFailure(error.message) : translate(error)
    }
  }
}

const unanswered: PromiseSettledResult<unknown> = { status: 'rejected', reason: new NodeFailure('no answer') }

const batchOf = (calls: readonly Pick<Call, 'method' | 'params'>[]) => `[${calls.map(bodyOf).join(',')}]`

const bodyOf = ({ method, params }: Pick<Call, 'method' | 'params'>, id: number) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

/**
 * Nodes answer a call's error with any HTTP status. A body without a JSON-RPC answer is a failure of the node.
 *
 * @param mayBeTooMuch whether a 400 without a JSON-RPC answer means that the call asks for too much
 */
function readAnswer({ status, text, retryAfter }: TextAnswer, mayBeTooMuch: boolean): unknown {
  let answer: unknown
  let fault: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    fault = cause
  }
  if (Array.isArray(answer) || isRpcResponse(answer)) {
    if (BUSY.has(status)) throw new NodeFailure(`HTTP ${status}`, 'unanswered', { retryAfterMs: inMs(retryAfter) })
    return answer
  }
  if (status === TOO_LARGE || (mayBeTooMuch && UNPROCESSABLE.has(status))) {
    throw new UpstreamRpcError({ code: status, message: `HTTP ${status} ${text.slice(0, 500)}` })
  }
  throw new NodeFailure(fault === undefined ? `HTTP ${status}` : `HTTP ${status} without JSON`, 'unanswered', {
    cause: fault,
    ...(BUSY.has(status) && { retryAfterMs: inMs(retryAfter) }),
  })
}

/** Some gateways leave `jsonrpc` out of their errors. */
function isRpcResponse(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false
  const { error } = answer as { error?: { code?: unknown; message?: unknown } | null }
  return 'jsonrpc' in answer || (typeof error?.code === 'number' && typeof error.message === 'string')
}

function translate(error: unknown): Error {
  if (error instanceof UpstreamRpcError || error instanceof NodeFailure) return error
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    return new UpstreamRpcError({ code: TOO_LARGE, message: 'the response is too large' })
  }
  const refusal = proxyRefusal(error)
  if (refusal !== undefined) return new NodeFailure(`the proxy answers HTTP ${refusal}`, 'unreached', { cause: error })
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const unreached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_PRX_CONN'].includes(
    code,
  )
  return new NodeFailure(code || 'the connection failed', unreached ? 'unreached' : 'lost', { cause: error })
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

interface Post {
  /** Absent: the one that the pool is for. */
  readonly origin?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

interface TextAnswer {
  readonly status: number
  readonly text: string
  /** Header `Retry-After`, where there is one. */
  readonly retryAfter?: string
}

/** Drops a byte order mark. */
const utf8 = new TextDecoder()

/** The answer did not come in time. */
export class TimeoutError extends Error {}

/**
 * Posts a text, and reads the answer as a text. It does what undici's `request` does, without a stream and a signal for
 * each call: these two take longer than the call itself.
 *
 * @throws TimeoutError; undici's errors
 */
export function postText(
  dispatcher: Dispatcher,
  { origin, path, headers, body, timeoutMs }: Post,
): Promise<TextAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
    let retryAfter: string | undefined
    let running: Dispatcher.DispatchController | undefined
    let late: TimeoutError | undefined
    const timer = setTimeout(() => {
      late = new TimeoutError(`no answer within ${timeoutMs} ms`)
      reject(late)
      running?.abort(late)
    }, timeoutMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
    }
    dispatcher.dispatch(
      {
        method: 'POST',
        ...(origin !== undefined && { origin }),
        path,
        headers,
        body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: (controller) => {
          running = controller
          if (late) controller.abort(late)
        },
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          status = statusCode
          const value = responseHeaders['retry-after']
          if (typeof value === 'string') retryAfter = value
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          clearTimeout(timer)
          const text = utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
          resolve(retryAfter === undefined ? { status, text } : { status, text, retryAfter })
        },
        onResponseError: (_controller, error) => fail(error),
      },
    )
  })
}
