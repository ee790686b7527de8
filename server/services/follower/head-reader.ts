import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Head } from './follower-options.ts'

interface RpcBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
}

/**
 * Reads the head of the chain, and notices that the head which it read before is no longer part of the chain.
 *
 * @param onReplaced awaited before the new head is returned
 */
export function createHeadReader(upstream: Upstream, onReplaced: () => Promise<void>): () => Promise<Head> {
  let last: Head | undefined
  const readBlock = (block: string) => upstream.request<RpcBlock | null>('eth_getBlockByNumber', [block, false])

  async function isReplaced(before: Head, head: Head, parentHash: string): Promise<boolean> {
    if (head.hash === before.hash || parentHash === before.hash) return false
    if (head.number === before.number) return true
    // Of several nodes, this one may be behind.
    if (head.number < before.number) return false
    const block = await readBlock(`0x${before.number.toString(16)}`)
    return block !== null && block.hash !== before.hash
  }

  return async () => {
    const block = await readBlock('latest')
    // The node has just started, or has lost its database.
    if (block === null) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node has no latest block')
    const head = { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
    const before = last
    last = head
    if (before && (await isReplaced(before, head, block.parentHash))) await onReplaced()
    return head
  }
}
