import type { Queries } from '../database/database.ts'

/** Notes that nodes have these transactions. */
export async function markSent(db: Queries, hashes: readonly string[], nowMs: number): Promise<void> {
  if (hashes.length === 0) return
  await db
    .updateTable('attempts')
    .set({ sent_at_ms: nowMs })
    .where('hash', 'in', [...hashes])
    .where('sent_at_ms', 'is', null)
    .execute()
}
