import { sql } from 'kysely'
import { anyOf } from '../database/any-of.ts'
import type { Queries } from '../database/database.ts'

/** A transaction that was stored and may not have been sent. */
export interface Unsent {
  readonly hash: string
  /** The signed bytes, hex. */
  readonly raw: string
}

/**
 * What an account's process did not get to send before it ended, in the order of the nonces.
 *
 * @param fromNonce of the account, from which on it is looked for
 */
export async function unsentOf(db: Queries, account: string, fromNonce: number): Promise<Unsent[]> {
  return (
    db
      // By itself: together with the rest it is at times planned by an index of all relays, while there are no statistics.
      .with(
        (name) => name('open').materialized(),
        (query) =>
          query
            .selectFrom('relays')
            .where('account', '=', account)
            .where('account_nonce', '>=', fromNonce)
            .where('final', '=', false)
            .select(['hash', 'status']),
      )
      .selectFrom('open')
      .innerJoin('attempts', 'attempts.relay', 'open.hash')
      .where('open.status', '=', 'pending')
      .where('attempts.sent_at_ms', 'is', null)
      .where(isLatestAttempt)
      .orderBy('attempts.account_nonce')
      .select(['attempts.hash', 'attempts.raw'])
      .execute()
  )
}

/** Notes that nodes have these transactions. */
export async function markSent(db: Queries, hashes: readonly string[], nowMs: number): Promise<void> {
  if (hashes.length === 0) return
  await db
    .updateTable('attempts')
    .set({ sent_at_ms: nowMs })
    .where('hash', '=', anyOf(hashes))
    .where('sent_at_ms', 'is', null)
    .execute()
}

/** No attempt for the same relay came after it: an older one must not be sent in its stead. */
const isLatestAttempt = sql<boolean>`not exists (
  select 1 from ${sql.table('attempts')} as later
  where later.relay = attempts.relay and later.created_at_ms > attempts.created_at_ms)`
