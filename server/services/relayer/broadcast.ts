import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import { UpstreamRpcError, type Upstream } from '../chain/upstream.ts'

/** What became of sending one transaction. */
export type SendResult =
  /** The node has it, or has mined it. */
  | 'taken'
  /** The node answered that it does not want it. */
  | 'refused'
  /** No node answered: it may have it or not. */
  | 'unknown'

/**
 * Sends a signed transaction. Nodes tell why they refuse in words that differ between them, and refuse what they
 * already have: so whether they have it is asked, not read from the words.
 */
export async function broadcast(
  { hash, raw }: { readonly hash: string; readonly raw: string },
  { upstream, log }: { upstream: Upstream; log: Logger },
): Promise<SendResult> {
  try {
    await upstream.request('eth_sendRawTransaction', [raw])
    return 'taken'
  } catch (error) {
    if (!(error instanceof UpstreamRpcError)) return unknownUnlessBug(error)
    try {
      if ((await upstream.request('eth_getTransactionByHash', [hash])) !== null) return 'taken'
    } catch (asking) {
      if (!(asking instanceof UpstreamRpcError)) return unknownUnlessBug(asking)
    }
    log.warn({ transaction: hash, nodeError: error.message.slice(0, 200) }, 'the node refuses a transaction')
    return 'refused'
  }
}

function unknownUnlessBug(error: unknown): SendResult {
  if (error instanceof ServiceError) return 'unknown'
  throw error
}
