import type { Logger } from 'pino'
import { HttpNode } from './http-node.ts'
import { NodeFailure, type NodeConnection } from './node-connection.ts'
import { ChainIdentity, Node } from './pool/node.ts'
import { NodePool } from './pool/node-pool.ts'
import { unavailable } from './pool/answers.ts'
import { UpstreamRpcError, type Upstream, type UpstreamOptions } from './upstream.ts'
import { WebSocketNode } from './websocket-node.ts'

export interface CreateUpstreamOptions {
  /** URLs of the nodes (`http:`, `https:`, `ws:` or `wss:`), the preferred one first. All are of one chain. */
  readonly rpcUrls: readonly string[]
  /** How long one node may take for one call, in milliseconds. Default 10,000. */
  readonly requestTimeoutMs?: number
  /** Whether nodes are asked to tell of new heads. Default false. */
  readonly watchesHeads?: boolean
  readonly log?: Logger
  /** How a node is reached. Default: as its URL says. */
  readonly connect?: (rpcUrl: string) => NodeConnection
}

/** The upstream that talks to the nodes themselves. */
export interface NodesUpstream extends Upstream {
  /** Called when blocks that were answered may no longer be part of the chain. */
  onReorganised: () => void
  /** Called when a node tells of a new head. */
  onHead: () => void
}

/**
 * Connects to one node or several. With several, each call goes to the best of them: see `pool/`. A node of another chain
 * is never used, also when it changes its chain while the server runs.
 */
export function createUpstream(options: CreateUpstreamOptions): NodesUpstream {
  const { rpcUrls, requestTimeoutMs = 10_000, watchesHeads = false, log, connect = connectByUrl } = options
  if (rpcUrls.length === 0) throw new TypeError('at least one RPC URL is needed')
  const identity = new ChainIdentity(rpcUrls.length === 1)
  const nodes = rpcUrls.map((url, position) => {
    const connection = connect(url)
    if (watchesHeads) connection.onHead = () => created.onHead()
    return new Node({ connection, position, identity, timeoutMs: requestTimeoutMs, log })
  })
  const [only, ...others] = nodes as [Node, ...Node[]]
  const upstream =
    others.length === 0
      ? singleNode(only, requestTimeoutMs)
      : new NodePool({
          nodes,
          identity,
          timeoutMs: requestTimeoutMs,
          log,
          onReorganised: () => created.onReorganised(),
        })
  const created: NodesUpstream = {
    onReorganised: () => {},
    onHead: () => {},
    request: <Result>(method: string, params: readonly unknown[], options: UpstreamOptions = {}) =>
      abortable(upstream.request<Result>(method, params, options), options.signal),
    requestTogether: (calls, options) => upstream.requestTogether?.(calls, options) ?? [],
    close: () => upstream.close(),
  }
  return created
}

const connectByUrl = (rpcUrl: string): NodeConnection =>
  /^wss?:/i.test(rpcUrl) ? new WebSocketNode(rpcUrl) : new HttpNode(rpcUrl)

/** With one node there is nothing to choose from and nothing to compare with. */
function singleNode(node: Node, requestTimeoutMs: number): Upstream {
  async function request(
    method: string,
    params: readonly unknown[],
    { timeoutMs = requestTimeoutMs, traceparent }: UpstreamOptions = {},
    mayRepeat = method !== 'eth_sendRawTransaction',
  ): Promise<unknown> {
    try {
      return await node.call(method, params, timeoutMs, traceparent)
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error
      // The node may have closed the idle connection just now. A new connection shows whether the node answers.
      if (error.stage === 'lost' && mayRepeat) {
        return request(method, params, { timeoutMs, ...(traceparent !== undefined && { traceparent }) }, false)
      }
      node.failed(error)
      throw unavailable(error, [node])
    }
  }
  return {
    request: <Result>(method: string, params: readonly unknown[], options?: UpstreamOptions) =>
      request(method, params, options) as Promise<Result>,
    requestTogether: (calls, { traceparent } = {}) =>
      node
        .callTogether(calls, requestTimeoutMs, traceparent)
        .map(async (asking): Promise<PromiseSettledResult<unknown>> => {
          const outcome = await asking
          if (outcome.status === 'fulfilled' || outcome.reason instanceof UpstreamRpcError) return outcome
          node.failed(outcome.reason as Error)
          return { status: 'rejected', reason: unavailable(outcome.reason, [node]) }
        }),
    close: () => node.close(),
  }
}

/** Rejects with the signal's reason as soon as the signal fires. The call itself runs on, and its answer is dropped. */
function abortable<T>(call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return call
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
