import type { Queries } from './tables.ts'

/** A commit that succeeded tells for so long: who asks often is not to make the disk work. */
const VALID_MS = 5_000

/**
 * Looks whether a commit is taken. Reading tells nothing of a full disk, or of a server that became read-only.
 *
 * @param lookFirst at what lies under the database
 * @returns asks for a look; all who ask at a time share one. It throws what the look throws
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
