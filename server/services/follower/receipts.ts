import { readReceipt } from '../node/read-receipt.ts'
import type { Upstream } from '../node/upstream.ts'
import type { OpenAttempt } from '../ledger/open-relays.ts'
import type { Mined } from '../ledger/settle.ts'

interface RawReceipt {
  readonly status?: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly gasUsed: string
  readonly effectiveGasPrice?: string
}

/** A relay, by its hash, and transactions that were signed for it, the latest last. */
interface Tried {
  readonly hash: string
  readonly attempts: readonly Pick<OpenAttempt, 'hash' | 'kind'>[]
}

/**
 * Looks for the receipt of any attempt of a relay, the latest first.
 *
 * @param lastFinalBlock blocks up to this number are held to be final
 * @returns undefined while none is mined
 */
export async function findMined(upstream: Upstream, relay: Tried, lastFinalBlock: number): Promise<Mined | undefined> {
  for (const attempt of relay.attempts.toReversed()) {
    const receipt = (await readReceipt(upstream, attempt.hash)) as RawReceipt | null
    // Some nodes show a receipt of the pending block, which has no hash yet.
    if (receipt === null || typeof receipt.blockHash !== 'string') continue
    return {
      relay: relay.hash,
      attempt: attempt.hash,
      kind: attempt.kind,
      succeeded: receipt.status === '0x1',
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      gasUsed: BigInt(receipt.gasUsed),
      effectiveGasPriceWei: BigInt(receipt.effectiveGasPrice ?? 0),
      final: Number(receipt.blockNumber) <= lastFinalBlock,
    }
  }
  return undefined
}
