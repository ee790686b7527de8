import { ServiceError } from '../../../core/errors.ts'
import { NodeFailure, TOO_LARGE } from '../node-connection.ts'
import { UpstreamRpcError } from '../upstream.ts'

/** What a node found to be too much: the number of blocks, or what is in them. */
export type Limit = 'range' | 'content'

/** `limit exceeded` of EIP-1474. */
const LIMIT_EXCEEDED = -32005

/**
 * Nodes have no common code for it. Texts of geth, reth, Erigon, Besu, Nethermind, Infura, Alchemy, QuickNode, Ankr and
 * Cloudflare, e.g. "query returned more than 10000 results", "query exceeds max results 20000", "exceed maximum block
 * range: 5000", "eth_getLogs is limited to a 10,000 range", "Log response size exceeded".
 */
const CONTENT =
  /results|response size|size exceed|too large|too many (?:logs|events|results|addresses)|max addresses|query timeout/i
const RANGE =
  /block range|range limit|max(?:imum)? range|range (?:is )?too|limited to an? [\d,]+ range|too many blocks/i
const RATE = /request (?:rate|count)|rate limit|requests per|too many requests/i

/** Which limit of the node an eth_getLogs call ran into; undefined when it failed for another reason. */
export function limitOf(error: unknown): Limit | undefined {
  if (error instanceof UpstreamRpcError) {
    if (error.code === TOO_LARGE) return 'content'
    if (RATE.test(error.message)) return undefined
    if (CONTENT.test(error.message)) return 'content'
    if (RANGE.test(error.message)) return 'range'
    return error.code === LIMIT_EXCEEDED ? 'content' : undefined
  }
  // A node that is at work for too long does not say so.
  const silent =
    error instanceof ServiceError && error.cause instanceof NodeFailure && error.cause.stage === 'unanswered'
  return silent ? 'content' : undefined
}
