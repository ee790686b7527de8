import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import { UpstreamRpcError, type Upstream } from '../node/upstream.ts'
import type { Unsent } from '../ledger/signer-accounts.ts'

/** Sends signed transactions. */
export interface Broadcaster {
  /**
   * Sends an account's transactions in the order of their nonces, and stops at the first that no node takes: nodes would
   * refuse those behind it.
   *
   * @param onTaken called for each as soon as a node has it
   * @returns how many transactions nodes have, from the first one on, and whether a node refused the next one; no answer is
   *   no refusal
   */
  send(transactions: readonly Unsent[], onTaken?: (index: number) => void): Promise<Broadcast>
}

export interface Broadcast {
  readonly taken: number
  readonly isRefused: boolean
}

/** What became of sending one transaction. */
type SendResult =
  /** The node has it, or has mined it. */
  | 'taken'
  /** The node answered that it does not want it. */
  | 'refused'
  /** No node answered: it may have it or not. */
  | 'unknown'

/** The most transactions of one account under way. */
const MAX_TOGETHER = 50

export function createBroadcaster({ upstream, log }: { upstream: Upstream; log: Logger }): Broadcaster {
  /** As a rule a node takes a batch in order. A transaction that the node refused is sent again by itself. */
  async function sendBatch(batch: readonly Unsent[], onTaken: (index: number) => void): Promise<Broadcast> {
    const calls = batch.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] }))
    const outcomes = upstream.requestTogether?.(calls)
    let taken = 0
    for (const [index, transaction] of batch.entries()) {
      const outcome = await outcomes?.[index]
      const result = outcome?.status === 'fulfilled' ? 'taken' : await sendOne(transaction)
      if (result !== 'taken') return { taken, isRefused: result === 'refused' }
      onTaken(index)
      taken++
    }
    return { taken, isRefused: false }
  }

  /**
   * Nodes refuse a transaction that they already have, and say why in words that differ between nodes. So the node is asked
   * whether it has the transaction, and the words are not read.
   */
  async function sendOne({ hash, raw }: Unsent): Promise<SendResult> {
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

  return {
    send: async (transactions, onTaken = () => {}) => {
      let next = 0
      while (next < transactions.length) {
        const batch = transactions.slice(next, next + MAX_TOGETHER)
        const { taken, isRefused } = await sendBatch(batch, (index) => onTaken(next + index))
        next += taken
        if (taken < batch.length) return { taken: next, isRefused }
      }
      return { taken: next, isRefused: false }
    },
  }
}

function unknownUnlessBug(error: unknown): SendResult {
  if (error instanceof ServiceError) return 'unknown'
  throw error
}
