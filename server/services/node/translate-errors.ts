import { ServiceError } from '../../core/errors.ts'
import { rpcErrorKind } from './rpc-error-kind.ts'
import { UpstreamRpcError, type Upstream } from './upstream.ts'

/** The same upstream, whose errors are those of the catalogue. */
export function translateErrors(upstream: Upstream): Upstream {
  return {
    request: async (method, params, options) => {
      try {
        return await upstream.request(method, params, options)
      } catch (error) {
        throw translateError(error)
      }
    },
    close: () => upstream.close(),
  }
}

/**
 * The node's own error as RPC_SERVER_ERROR; as UPSTREAM_UNAVAILABLE where the node wants its rest or is behind, so that the
 * same call may be served soon. Any other error as it is.
 */
export function translateError(error: unknown): unknown {
  if (!(error instanceof UpstreamRpcError)) return error
  const kind = rpcErrorKind(error)
  const isPassing = kind === 'busy' || kind === 'unknown-block'
  const reason = `the node refuses: ${error.message.slice(0, 200)}`
  return new ServiceError(isPassing ? 'UPSTREAM_UNAVAILABLE' : 'RPC_SERVER_ERROR', reason, {
    details: { nodeCode: error.code },
    cause: error,
    ...(isPassing && { retryAfterSeconds: RETRY_SECONDS }),
  })
}

const RETRY_SECONDS = 1
