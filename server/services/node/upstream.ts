/** A JSON-RPC connection to the node (or nodes) behind the server: transport only, nothing cached. */
export interface Upstream {
  /**
   * @throws UpstreamRpcError the node answered with a JSON-RPC error
   * @throws ServiceError UPSTREAM_UNAVAILABLE no node answered in time
   */
  request<Result = unknown>(method: string, params: readonly unknown[], options?: UpstreamOptions): Promise<Result>
  /**
   * Hands calls to one node, which works through them in this order as a rule: for transactions of one account. A node that
   * is slow or fails is not waited for: another one gets the same bytes in the same order. Whether a node has got what is
   * not answered for has to be asked.
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
   * For what decides about money: a second node must say the same, where there is one. Of nonces and heads the lower one
   * counts. The request throws UPSTREAM_UNAVAILABLE while they contradict each other.
   */
  readonly confirm?: boolean
  /**
   * Told before the promise settles which node's answer or error it settles with, by a name of its own: nodes have limits of
   * their own. Not called where there is one node, or none has answered.
   */
  readonly onNode?: (name: string) => void
  /** W3C Trace Context, sent along; of calls that share an HTTP request, that of the first. */
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
