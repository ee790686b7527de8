import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import { transactionOf } from '../database/tables.ts'

/** Nonces of an account, the second one excluded. */
export interface NonceRange {
  readonly from: number
  readonly below: number
}

/** A transaction that was stored and may not have been sent. */
export interface Unsent {
  readonly hash: string
  /** The signed bytes, hex. */
  readonly raw: string
}

/**
 * What may not have been sent of an account's transactions with these nonces, in their order: what is pending and not
 * known to have been offered to a node.
 */
export async function unsentOf(db: Queries, account: string, { from, below }: NonceRange): Promise<Unsent[]> {
  return (
    db
      // By itself: together with the rest it is at times planned by an index of all relays, while there are no statistics.
      .with(
        (name) => name('open').materialized(),
        (query) =>
          query
            .selectFrom('relays')
            .where('account', '=', account)
            .where('account_nonce', '>=', sql<number>`greatest(${from}::bigint, ${offeredBelow(account)})`)
            .where('account_nonce', '<', below)
            .where('final', '=', false)
            .select([transactionOf.as('hash'), 'status'])
            .distinct(),
      )
      .selectFrom('open')
      .innerJoin('attempts', 'attempts.relay', 'open.hash')
      .where('open.status', '=', 'pending')
      .where(isLatestAttempt)
      .orderBy('attempts.account_nonce')
      .select(['attempts.hash', 'attempts.raw'])
      .execute()
  )
}

/** Notes that all of an account's transactions below a nonce were offered to a node. Lost, they are offered once more. */
export async function noteOffered(db: Queries, account: string, belowNonce: number): Promise<void> {
  await db
    .updateTable('signer_accounts')
    .set({ offered_below: belowNonce })
    .where('address', '=', account)
    .where('offered_below', '<', belowNonce)
    .execute()
}

const offeredBelow = (account: string) =>
  sql`(select offered_below from ${sql.table('signer_accounts')} where address = ${account})`

/** No attempt for the same relay came after it: an older one must not be sent in its stead. */
const isLatestAttempt = sql<boolean>`not exists (
  select 1 from ${sql.table('attempts')} as later
  where later.relay = attempts.relay and later.created_at_ms > attempts.created_at_ms)`
