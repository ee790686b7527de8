import type { Queries } from './tables.ts'

/** A commit that succeeded counts for this time, in milliseconds, so that frequent checks do not write to the disk. */
const VALID_MS = 5_000

/**
 * Checks that a commit succeeds. Reading would not show a full disk, or a server that became read-only.
 *
 * @param lookFirst at what lies under the database
 * @returns a function that makes the check. Callers at the same time share one. It throws what the check throws
 */
export function createWriteProbe(db: Queries, lookFirst?: () => Promise<void> | undefined): () => Promise<void> {
  let succeededMs = -Infinity
  let look: Promise<void> | undefined

  async function commit(): Promise<void> {
    await lookFirst?.()
    const value = new Date().toISOString()
    await db
      .insertInto('facts')
      .values({ name: 'last_probe', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
    succeededMs = performance.now()
  }

  return async () => {
    if (performance.now() - succeededMs < VALID_MS) return
    look ??= commit().finally(() => (look = undefined))
    await look
  }
}
