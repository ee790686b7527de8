import type { Queries } from '../database/database.ts'
import { anyOf } from '../database/tables.ts'
import { callStateOf, nextCallState } from './lifecycle.ts'

/** A block that holds relays, or at which relays were given up. */
export interface FinalBlock {
  readonly number: number
  readonly hash: string
}

/**
 * The blocks by which relays are held to be final, the latest first.
 *
 * @param sinceMs of relays that were accepted since then, Unix milliseconds
 */
export async function finalBlocks(db: Queries, sinceMs: number): Promise<FinalBlock[]> {
  const rows = await db
    .selectFrom('relays')
    .select(['block_number', 'block_hash'])
    .distinct()
    .where('final', '=', true)
    .where('created_at_ms', '>=', sinceMs)
    .where('block_hash', 'is not', null)
    .orderBy('block_number', 'desc')
    .orderBy('block_hash')
    .execute()
  return rows.map(({ block_number, block_hash }) => ({ number: Number(block_number), hash: String(block_hash) }))
}

/**
 * Takes back that relays are final by these blocks: the chain has other blocks now.
 *
 * @returns how many they are
 */
export async function reopenBlocks(db: Queries, hashes: readonly string[], sinceMs: number): Promise<number> {
  if (hashes.length === 0) return 0
  const reopened = await db
    .updateTable('relays')
    .set({ final: false })
    .where('final', '=', true)
    .where('created_at_ms', '>=', sinceMs)
    .where('block_hash', '=', anyOf(hashes))
    .returning(['status', 'mined_hash'])
    .execute()
  for (const row of reopened) nextCallState(callStateOf({ ...row, final: true }), 'reopened')
  return reopened.length
}
