import type { Upstream } from '../node/upstream.ts'
import type { OpenRelay, TriedRelay } from '../ledger/open-relays.ts'
import type { Mined } from '../ledger/settle.ts'
import { findMined } from './receipts.ts'

/** What has become of relays that were seen mined. */
export interface MinedNews {
  /** Mined so deep that they are held to be final. */
  readonly final: readonly OpenRelay[]
  /** Mined in another block now. */
  readonly moved: readonly Mined[]
  /** Not mined any more. */
  readonly dropped: readonly OpenRelay[]
}

/**
 * Asks whether the blocks of mined relays are still part of the chain.
 *
 * @param lastFinalBlock blocks up to this number are held to be final
 * @param withAttempts asked for those whose blocks are gone
 */
export async function followMined(
  upstream: Upstream,
  relays: readonly OpenRelay[],
  lastFinalBlock: number,
  withAttempts: (relays: readonly OpenRelay[]) => Promise<TriedRelay[]>,
): Promise<MinedNews> {
  const numbers = [...new Set(relays.map(({ mined }) => mined?.blockNumber ?? 0))]
  const blocks = await Promise.all(
    numbers.map((number) =>
      upstream.request<{ hash: string } | null>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    ),
  )
  const hashes = new Map(numbers.map((number, index) => [number, blocks[index]?.hash]))
  const stays = relays.filter(({ mined }) => mined && hashes.get(mined.blockNumber) === mined.blockHash)
  const gone = await withAttempts(relays.filter((relay) => !stays.includes(relay)))
  const found = await Promise.all(gone.map((relay) => findMined(upstream, relay, lastFinalBlock)))
  return {
    final: stays.filter(({ mined }) => mined && mined.blockNumber <= lastFinalBlock),
    moved: found.filter((mined) => mined !== undefined),
    dropped: gone.filter((_, index) => found[index] === undefined),
  }
}
