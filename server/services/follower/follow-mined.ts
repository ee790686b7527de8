import type { Queries } from '../database/database.ts'
import type { Upstream } from '../node/upstream.ts'
import { withAttempts, type OpenRelay } from '../ledger/open-relays.ts'
import type { Mined } from '../ledger/settle.ts'
import { findMined, oneOfEach, outcomesOf } from './receipts.ts'

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
 */
export async function followMined(
  { db, upstream }: { readonly db: Queries; readonly upstream: Upstream },
  relays: readonly OpenRelay[],
  lastFinalBlock: number,
): Promise<MinedNews> {
  const numbers = [...new Set(relays.map(({ mined }) => mined?.blockNumber ?? 0))]
  const blocks = await Promise.all(
    numbers.map((number) =>
      upstream.request<{ hash: string } | null>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
    ),
  )
  const hashes = new Map(numbers.map((number, index) => [number, blocks[index]?.hash]))
  const stays = relays.filter(({ mined }) => mined && hashes.get(mined.blockNumber) === mined.blockHash)
  const gone = relays.filter((relay) => !stays.includes(relay))
  const tried = oneOfEach(await withAttempts(db, gone))
  const found = (await Promise.all(tried.map((one) => findMined(upstream, one, lastFinalBlock)))).filter(
    (mined) => mined !== undefined,
  )
  const isFound = new Set(found.map(({ transaction }) => transaction))
  return {
    final: stays.filter(({ mined }) => mined && mined.blockNumber <= lastFinalBlock),
    moved: await outcomesOf(db, found, gone),
    dropped: gone.filter(({ transaction }) => !isFound.has(transaction)),
  }
}
