import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import { HttpNode } from './http-node.ts'
import { NodeFailure, type NodeConnection } from './node-connection.ts'
import { NodeHealth } from './node-health.ts'
import { UpstreamRpcError, type Upstream, type UpstreamCall, type UpstreamOptions } from './upstream.ts'
import { WebSocketNode } from './websocket-node.ts'

export interface CreateUpstreamOptions {
  /** The nodes, the preferred one first; all of one chain. By `http:`, `https:`, `ws:` or `wss:`. */
  readonly rpcUrls: readonly string[]
  /** How long one node may take for one call. Default 10,000. */
  readonly requestTimeoutMs?: number
  readonly log?: Logger
}

/**
 * Connects to one node or several. Calls go to the first healthy node in the given order; when it fails, to the next one.
 * A failed node is asked every now and then until it answers again. A node of another chain than the first one that
 * answered is never used.
 *
 * A call whose answer was lost may reach two nodes, except eth_sendRawTransaction: that is sent again only if the first
 * node was not reached at all.
 */
export function createUpstream({ rpcUrls, requestTimeoutMs = 10_000, log }: CreateUpstreamOptions): Upstream {
  if (rpcUrls.length === 0) throw new TypeError('at least one RPC URL is needed')
  const health = new NodeHealth(rpcUrls.map(connect), requestTimeoutMs, log)

  async function request(method: string, params: readonly unknown[], options: UpstreamOptions): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? requestTimeoutMs
    const attempts = [...(await health.candidates())]
    let failure: NodeFailure | undefined
    for (let node = attempts.shift(); node !== undefined; node = attempts.shift()) {
      options.signal?.throwIfAborted()
      try {
        const result = await node.call(method, params, timeoutMs, options.traceparent)
        health.succeeded(node)
        return result
      } catch (error) {
        if (!(error instanceof NodeFailure)) {
          health.succeeded(node)
          throw error
        }
        if (method === 'eth_sendRawTransaction' && error.stage !== 'unreached') attempts.length = 0
        // A connection that was kept alive may have been closed from the other side just now: a new one tells.
        else if (error.stage === 'lost' && failure === undefined) attempts.unshift(node)
        failure = error
        if (attempts[0] !== node) health.failed(node, error)
      }
    }
    throw new ServiceError('UPSTREAM_UNAVAILABLE', failure?.message ?? 'no node of the right chain', { cause: failure })
  }

  function requestTogether(
    calls: readonly UpstreamCall[],
    { traceparent }: Pick<UpstreamOptions, 'traceparent'> = {},
  ): readonly Promise<PromiseSettledResult<unknown>>[] {
    const asked = health.candidates().then(([node]) => ({
      node,
      outcomes: node?.callTogether(calls, requestTimeoutMs, traceparent),
    }))
    return calls.map(async (_, index): Promise<PromiseSettledResult<unknown>> => {
      const { node, outcomes } = await asked
      const outcome = await outcomes?.[index]
      if (outcome?.status === 'fulfilled') return outcome
      const reason: unknown = outcome?.reason
      if (reason instanceof UpstreamRpcError) return { status: 'rejected', reason }
      if (node && reason instanceof NodeFailure) health.failed(node, reason)
      const message = reason instanceof NodeFailure ? reason.message : 'no node of the right chain'
      return { status: 'rejected', reason: new ServiceError('UPSTREAM_UNAVAILABLE', message, { cause: reason }) }
    })
  }

  return {
    requestTogether,
    request: <Result>(method: string, params: readonly unknown[], options: UpstreamOptions = {}) =>
      abortable(request(method, params, options), options.signal) as Promise<Result>,
    close: () => health.close(),
  }
}

const connect = (rpcUrl: string): NodeConnection =>
  /^wss?:/i.test(rpcUrl) ? new WebSocketNode(rpcUrl) : new HttpNode(rpcUrl)

/** Rejects with the signal's reason as soon as it fires; the call itself runs to its end unheard. */
function abortable<T>(call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return call
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
