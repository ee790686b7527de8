import { ServiceError } from '../../../core/errors.ts'
import { NodeFailure } from '../node-connection.ts'
import type { Node } from './node.ts'

/** What a caller is told when no node has answered: why, and when to ask again if the nodes have said so. */
export function unavailable(cause: unknown, nodes: readonly Node[]): ServiceError {
  const isWrongChain = nodes.every(({ isForeign }) => isForeign)
  const restMs = Math.min(...nodes.map((node) => node.restMs))
  const reason = isWrongChain || !(cause instanceof NodeFailure) ? 'no node of the right chain' : cause.message
  return new ServiceError('UPSTREAM_UNAVAILABLE', reason, {
    cause,
    ...(isWrongChain && { details: { wrongChain: true } }),
    ...(restMs > 0 && { retryAfterSeconds: Math.ceil(restMs / 1000) }),
  })
}
