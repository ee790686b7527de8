import { errors, Pool } from 'undici'
import { Semaphore } from '../../semaphore.ts'
import { postText, TimeoutError } from './post-text.ts'
import { UpstreamRpcError } from './upstream.ts'

/**
 * How far a call got: `unreached` the node cannot have received it, `lost` the connection broke (perhaps one that was
 * kept alive for too long), `unanswered` it may be at work.
 */
export type FailureStage = 'unreached' | 'lost' | 'unanswered'

/** The node gave no JSON-RPC answer: another one may. */
export class NodeFailure extends Error {
  readonly stage: FailureStage

  constructor(reason: string, stage: FailureStage = 'unanswered', options?: ErrorOptions) {
    super(reason, options)
    this.name = 'NodeFailure'
    this.stage = stage
  }
}

/** Codes that HTTP has and JSON-RPC does not: too large, the request or its answer. */
export const TOO_LARGE = 413

/** HTTP requests at a time; calls beyond them wait and are sent together. */
const LANES = 8
/** Of eth_getLogs, besides: their answers are large, and must not keep the others waiting. */
const LOG_LANES = 4
/** The most calls in one HTTP request; fewer when the node refuses so many. */
const BATCH_LENGTH = 50
/** An answer beyond it is refused like one that the node itself finds too large. */
const RESPONSE_BYTES = 64 * 1024 * 1024

/** Said by gateways in front of a node, whatever they put into the body. */
const BUSY = new Set([429, 502, 503, 504])

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  readonly timeoutMs: number
  readonly traceparent: string | undefined
  resolve(result: unknown): void
  reject(error: Error): void
}

interface RpcResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown } | null
}

/**
 * One node over HTTP. Connections are kept alive. While few calls are under way each has a request of its own; those that
 * would have to wait are sent together as a batch as soon as a request is done.
 */
export class NodeConnection {
  /** For logs: the host alone, since paths and user names hold keys. */
  readonly name: string
  readonly #pool: Pool
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #waiting: Call[] = []
  readonly #logLanes = new Semaphore(LOG_LANES)
  #underWay = 0
  #batchLength = BATCH_LENGTH
  #flushPlanned = false

  constructor(rpcUrl: string) {
    const url = new URL(rpcUrl)
    this.name = url.host
    this.#path = `${url.pathname}${url.search}`
    this.#headers = { 'content-type': 'application/json' }
    if (url.username !== '' || url.password !== '') {
      const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
      this.#headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`
    }
    this.#pool = new Pool(url.origin, { connections: 2 * LANES, maxResponseSize: RESPONSE_BYTES })
  }

  /** @throws UpstreamRpcError the node's own error; NodeFailure there was no answer */
  call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call: Call = { method, params, timeoutMs, traceparent, resolve, reject }
      // These two go alone: one may be too much by itself, the other must not be sent twice.
      if (method === 'eth_getLogs') return void this.#logLanes.run(() => this.#sendOne(call))
      if (method === 'eth_sendRawTransaction') return void this.#sendOne(call)
      this.#waiting.push(call)
      if (this.#flushPlanned) return
      this.#flushPlanned = true
      // All calls of this turn are known before the first is sent.
      queueMicrotask(() => {
        this.#flushPlanned = false
        this.#flush()
      })
    })
  }

  /** One HTTP request for all, at once and in this order; a node that takes no batches gets one after the other. */
  async callTogether(
    calls: readonly { readonly method: string; readonly params: readonly unknown[] }[],
    timeoutMs: number,
    traceparent?: string,
  ): Promise<PromiseSettledResult<unknown>[]> {
    let answers: unknown
    try {
      answers = await this.#post(batchOf(calls), timeoutMs, traceparent)
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

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#underWay < LANES) {
      const share = Math.ceil(this.#waiting.length / (LANES - this.#underWay))
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

  async #sendOne(call: Call): Promise<void> {
    try {
      call.resolve(resultOf(await this.#post(bodyOf(call, 1), call.timeoutMs, call.traceparent)))
    } catch (error) {
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
      if (!(error instanceof UpstreamRpcError)) {
        for (const call of calls) call.reject(asError(error))
        return
      }
      answers = error
    }
    if (!Array.isArray(answers)) {
      // One answer for all: the node takes no batches, or none so long.
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

  async #post(body: string, timeoutMs: number, traceparent: string | undefined): Promise<unknown> {
    try {
      const headers = traceparent === undefined ? this.#headers : { ...this.#headers, traceparent }
      const { status, text } = await postText(this.#pool, { path: this.#path, headers, body, timeoutMs })
      return readAnswer(status, text)
    } catch (error) {
      throw error instanceof TimeoutError ? new NodeFailure(error.message) : translate(error)
    }
  }
}

const batchOf = (calls: readonly Pick<Call, 'method' | 'params'>[]) => `[${calls.map(bodyOf).join(',')}]`

const bodyOf = ({ method, params }: Pick<Call, 'method' | 'params'>, id: number) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

/** Nodes answer errors of the call with any status; what has no JSON-RPC answer in it is a failure of the node. */
function readAnswer(status: number, text: string): unknown {
  if (status === TOO_LARGE) throw new UpstreamRpcError({ code: TOO_LARGE, message: 'HTTP 413' })
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw new NodeFailure(`HTTP ${status} without JSON`, 'unanswered', { cause })
  }
  const isAnswer = Array.isArray(answer) || (typeof answer === 'object' && answer !== null && 'jsonrpc' in answer)
  if (!isAnswer || BUSY.has(status)) throw new NodeFailure(`HTTP ${status}`)
  return answer
}

/** @throws UpstreamRpcError, NodeFailure */
function resultOf(answer: unknown): unknown {
  const { result, error } = (answer ?? {}) as RpcResponse
  if (error !== undefined && error !== null) {
    throw new UpstreamRpcError({
      code: typeof error.code === 'number' ? error.code : -32000,
      message: typeof error.message === 'string' ? error.message : 'the node gives no reason',
      data: error.data,
    })
  }
  if (result === undefined) throw new NodeFailure('the answer has neither result nor error')
  return result
}

function translate(error: unknown): Error {
  if (error instanceof UpstreamRpcError || error instanceof NodeFailure) return error
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    return new UpstreamRpcError({ code: TOO_LARGE, message: 'the response is too large' })
  }
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const unreached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)
  return new NodeFailure(code || 'the connection failed', unreached ? 'unreached' : 'lost', { cause: error })
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
