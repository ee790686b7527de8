import { unescape } from 'node:querystring'
import { UpstreamRpcError, type UpstreamCall } from './upstream.ts'

/** The connection to one node, over HTTP or WebSocket as its URL says: see `http-node.ts` and `websocket-node.ts`. */
export interface NodeConnection {
  /** The host, for logs. Paths and user names of a URL hold keys, so they are left out. */
  readonly name: string
  /**
   * @param traceparent W3C Trace Context; sent over HTTP, since a WebSocket message has no headers
   * @throws UpstreamRpcError the node's own error; NodeFailure there was no answer
   */
  call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown>
  /**
   * Hands calls to the node in this order.
   *
   * @returns the outcome of each call, as soon as it is known; rejections are those of `call`
   */
  callTogether(
    calls: readonly UpstreamCall[],
    timeoutMs: number,
    traceparent?: string,
  ): readonly Promise<PromiseSettledResult<unknown>>[]
  /** Whether the connection is open. */
  readonly isOpen: boolean
  /** Called when a connection has opened after none was open. Another node may be behind the same URL now. */
  onOpen: () => void
  /**
   * Called when the node tells of a new head. Set before the first call, or the connection does not ask to be told. Only
   * WebSocket can tell.
   */
  onHead?: (() => void) | undefined
  close(): Promise<void>
}

/**
 * How far a call got. `waiting`: it was not sent, because others had their turn. `unreached`: the node cannot have received
 * it. `lost`: the connection broke, perhaps because it was idle for too long. `unanswered`: the node may be at work on it.
 * `behind`: the node has answered, but lacks later blocks.
 */
export type FailureStage = 'waiting' | 'unreached' | 'lost' | 'unanswered' | 'behind'

/** The node gave no JSON-RPC answer. Another node may give one. */
export class NodeFailure extends Error {
  readonly stage: FailureStage
  /** Milliseconds for which the node asks to be left alone. */
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

/** HTTP's code for a request or an answer that is too large. JSON-RPC has none. */
export const TOO_LARGE = 413

/** A longer answer is treated as one that the node itself finds too large. */
export const RESPONSE_BYTES = 64 * 1024 * 1024

/**
 * Calls of eth_getLogs at a time. They are counted apart, because their large answers would keep other calls waiting.
 */
export const LOG_CALLS_AT_A_TIME = 4

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

/** The header `Authorization` from the URL's user and password; none when the URL has neither. */
export function authorization({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  const user = `${unescape(username)}:${unescape(password)}`
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
