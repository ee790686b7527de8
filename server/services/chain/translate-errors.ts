import { ServiceError } from '../../core/errors.ts'
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

/** The node's own error as RPC_SERVER_ERROR; any other as it is. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof UpstreamRpcError)) return error
  return new ServiceError('RPC_SERVER_ERROR', `the node refuses: ${error.message.slice(0, 200)}`, {
    details: { nodeCode: error.code },
    cause: error,
  })
}
