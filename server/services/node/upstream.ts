/** Asks the node, or the nodes, behind the server by JSON-RPC. It keeps no answers. */
export interface Upstream {
  /**
   * @throws UpstreamRpcError the node answered with a JSON-RPC error
   * @throws ServiceError UPSTREAM_UNAVAILABLE no node answered in time
   */
  request<Result = unknown>(method: string, params: readonly unknown[], options?: UpstreamOptions): Promise<Result>
  /**
   * Hands the transactions of one account to one node, in this order. When that node is slow or fails, another one gets the
   * same bytes in the same order. A call without an answer says nothing of whether a node has the transaction: ask for it.
   *
   * @returns an outcome for each, as soon as it is known; rejections are those of `request`
   */
  requestTogether?(
    calls: readonly UpstreamCall[],
    options?: Pick<UpstreamOptions, 'traceparent'>,
  ): readonly Promise<PromiseSettledResult<unknown>>[]
  close(): Promise<void>
}

export interface UpstreamCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface UpstreamOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /**
   * For answers that decide about money: where there is a second node, it must say the same. Of two nonces or two heads the
   * lower one counts. While the nodes contradict each other, the request throws UPSTREAM_UNAVAILABLE.
   */
  readonly confirm?: boolean
  /**
   * Called with the name of the node whose answer or error the promise is about to settle with, since each node has limits
   * of its own. It is not called when there is one node only, or when none has answered.
   */
  readonly onNode?: (name: string) => void
  /** W3C Trace Context, sent with the call. Calls that share an HTTP request send that of the first one. */
  readonly traceparent?: string
}

/** The node's own JSON-RPC error, as it came. */
export class UpstreamRpcError extends Error {
  readonly code: number
  /** For a reverted call: usually the revert data, whose place differs between nodes. */
  readonly data: unknown

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message)
    this.name = 'UpstreamRpcError'
    this.code = error.code
    this.data = error.data
  }
}

declare module '../../core/define.ts' {
  interface Services {
    upstream: Upstream
  }
}
