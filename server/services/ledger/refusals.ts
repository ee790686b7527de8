import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'

/** The node refuses the next transaction of an account, and so nothing behind it can be mined. */
export interface Refusal {
  /** The account's nonce of that transaction. */
  readonly nonce: number
  /** When it was first refused. */
  readonly sinceMs: number
  /** How often it was. */
  readonly count: number
}

/** After so many refusals of its next transaction an account is given no more calls. */
const LEFT_OUT_AFTER = 2

/** @returns undefined while nothing of the account is refused */
export async function refusalOf(db: Queries, account: string): Promise<Refusal | undefined> {
  const row = await db
    .selectFrom('signer_accounts')
    .where('address', '=', account)
    .select(['refused_nonce', 'refused_since_ms', 'refusals'])
    .executeTakeFirst()
  if (!row || row.refused_nonce === null) return undefined
  return { nonce: Number(row.refused_nonce), sinceMs: Number(row.refused_since_ms), count: row.refusals }
}

/** Whether an account has to be left out of the choice. */
export const isLeftOut = (refusal: Refusal | undefined) => refusal !== undefined && refusal.count >= LEFT_OUT_AFTER

/** Notes that the node has refused an account's transaction with this nonce, once more or for the first time. */
export async function noteRefusal(db: Queries, account: string, nonce: number, nowMs: number): Promise<void> {
  const again = sql`refused_nonce is not distinct from ${nonce}::bigint`
  await db
    .updateTable('signer_accounts')
    .set({
      refused_nonce: nonce,
      refused_since_ms: sql<number>`case when ${again} then refused_since_ms else ${nowMs}::bigint end`,
      refusals: sql<number>`case when ${again} then refusals + 1 else 1 end`,
    })
    .where('address', '=', account)
    .execute()
}

/** Forgets the refusals of an account: its transaction was taken, or is mined. */
export async function clearRefusals(db: Queries, account: string): Promise<void> {
  await db
    .updateTable('signer_accounts')
    .set({ refused_nonce: null, refused_since_ms: null, refusals: 0 })
    .where('address', '=', account)
    .execute()
}
