import { UpstreamRpcError, type UpstreamCall } from './upstream.ts'

/** One node, over what its URL says: see `http-node.ts` and `websocket-node.ts`. */
export interface NodeConnection {
  /** For logs: the host alone, since paths and user names hold keys. */
  readonly name: string
  /**
   * @param traceparent W3C Trace Context, where there are headers to take it
   * @throws UpstreamRpcError the node's own error; NodeFailure there was no answer
   */
  call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown>
  /**
   * Hands calls to the node in this order, none before the one in front of it.
   *
   * @returns for each what became of it, as soon as that is known; rejections are those of `call`
   */
  callTogether(
    calls: readonly UpstreamCall[],
    timeoutMs: number,
    traceparent?: string,
  ): readonly Promise<PromiseSettledResult<unknown>>[]
  /** Whether a connection stands. */
  readonly isOpen: boolean
  /** Told when a connection stands again and none did before: perhaps to another node. */
  onOpen: () => void
  close(): Promise<void>
}

/**
 * How far a call got: `unreached` the node cannot have received it, `lost` the connection broke (perhaps one that was
 * kept alive for too long), `unanswered` it may be at work, `behind` it has answered, from too far back.
 */
export type FailureStage = 'unreached' | 'lost' | 'unanswered' | 'behind'

/** The node gave no JSON-RPC answer: another one may. */
export class NodeFailure extends Error {
  readonly stage: FailureStage
  /** For how long the node wants to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: string,
    stage: FailureStage = 'unanswered',
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(reason, options)
    this.name = 'NodeFailure'
    this.stage = stage
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Codes that HTTP has and JSON-RPC does not: too large, the request or its answer. */
export const TOO_LARGE = 413

/** An answer beyond it is refused like one that the node itself finds too large. */
export const RESPONSE_BYTES = 64 * 1024 * 1024

/** Calls of eth_getLogs at a time, apart from all others: their answers are large, and must not keep those waiting. */
export const LOG_LANES = 4

export interface RpcResponse {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown } | string | null
}

/**
 * A value of `Retry-After`, seconds or a date, in milliseconds from now.
 *
 * @returns undefined for what is neither
 */
export function inMs(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined
  const ms = /^\d+$/.test(retryAfter.trim()) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** The header for who the URL says is asking; none when it names nobody. */
export function authorization({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` }
}

/** @throws UpstreamRpcError, NodeFailure */
export function resultOf(answer: RpcResponse | null | undefined): unknown {
  const { result, error } = answer ?? {}
  if (typeof error === 'string') throw new UpstreamRpcError({ code: -32000, message: error })
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
