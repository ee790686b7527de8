import { sql } from 'kysely'
import { OperatorError } from '../../core/errors.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Queries } from '../database/database.ts'
import { transactionOf } from '../database/tables.ts'
import type { SignerAccount } from '../signers/signers.ts'

/**
 * The nonces and receipts in a ledger mean nothing on another chain, even one with the same id.
 *
 * @throws OperatorError the ledger belongs to a chain with another first block
 */
export async function assertSameChain(db: Queries, upstream: Upstream): Promise<void> {
  const block = await upstream.request<{ hash: string } | null>('eth_getBlockByNumber', ['0x0', false])
  // Some nodes do not keep their first block.
  if (!block) return
  await db
    .insertInto('facts')
    .values({ name: 'genesis', value: block.hash })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await db.selectFrom('facts').where('name', '=', 'genesis').select('value').executeTakeFirstOrThrow()
  if (value !== block.hash) {
    throw new OperatorError(
      `database: its ledger belongs to another chain of this id (first block ${value}, the node has ${block.hash}): use another one`,
    )
  }
}

/** Stores new accounts with the nonce that the chain has for them, and raises the next nonces that the chain has passed. */
export async function openSignerAccounts(
  db: Queries,
  upstream: Upstream,
  accounts: readonly SignerAccount[],
): Promise<void> {
  for (const { address } of accounts) {
    const count = Number(await upstream.request<string>('eth_getTransactionCount', [address, 'pending']))
    await db
      .insertInto('signer_accounts')
      .values({ address, next_nonce: count })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    // Somebody else has used the account. The next transaction goes behind theirs.
    await db
      .updateTable('signer_accounts')
      .set({ next_nonce: count })
      .where('address', '=', address)
      .where('next_nonce', '<', count)
      .execute()
  }
}

/** The most that the transactions of an account can still cost which are not mined, in wei. */
export async function pendingCostWei(db: Queries, account: string): Promise<bigint> {
  const priced = db
    .selectFrom('relays')
    .innerJoin('attempts', (join) => join.on('attempts.relay', '=', transactionOf))
    .where('relays.account', '=', account)
    .where('relays.final', '=', false)
    .where('relays.mined_hash', 'is', null)
    .groupBy(['relays.hash', 'relays.bundle', 'relays.gas_limit'])
    // The gas limit of a bundle is that of its calls and a 63rd part: see `bundleGasLimit`.
    .select(
      sql<string>`(relays.gas_limit + case when relays.bundle is null then 0 else relays.gas_limit / 63 + 1 end)
        * max(attempts.max_fee_per_gas)`.as('cost'),
    )
  const { total } = await db
    .selectFrom(priced.as('priced'))
    .select(sql<string | null>`sum(priced.cost)`.as('total'))
    .executeTakeFirstOrThrow()
  return BigInt(total ?? 0)
}

/** The nonce that the account's next transaction gets; undefined: the ledger does not know the account. */
export async function nextNonceOf(db: Queries, account: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('signer_accounts')
    .where('address', '=', account)
    .select('next_nonce')
    .executeTakeFirst()
  return row && Number(row.next_nonce)
}

/** Consecutive nonces of an account: from the first one on, below the second one. */
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
 * The transactions of an account with these nonces that may not have been sent, in the order of the nonces: those that are
 * pending, and of which it is not noted that a node was offered them.
 */
export async function unsentOf(db: Queries, account: string, { from, below }: NonceRange): Promise<Unsent[]> {
  return (
    db
      // A query of its own: while PostgreSQL has no statistics, it sometimes plans the joined query by an index of all relays.
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

/**
 * Notes that all of an account's transactions below a nonce were offered to a node. When the note is lost, they are offered
 * again.
 */
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

/** There is no later attempt for the same relay: an older attempt must not be sent in place of a later one. */
const isLatestAttempt = sql<boolean>`not exists (
  select 1 from ${sql.table('attempts')} as later
  where later.relay = attempts.relay and later.created_at_ms > attempts.created_at_ms)`

/** The node refuses the next transaction of an account. Nothing behind that transaction can be mined. */
export interface Refusal {
  /** The nonce of the refused transaction. */
  readonly nonce: number
  /** When it was first refused, Unix milliseconds. */
  readonly sinceMs: number
  /** How often it was refused. */
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

/** Whether the account is to get no more calls. */
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

/** Forgets the refusals of an account, because its transaction was taken or mined. */
export async function clearRefusals(db: Queries, account: string): Promise<void> {
  await db
    .updateTable('signer_accounts')
    .set({ refused_nonce: null, refused_since_ms: null, refusals: 0 })
    .where('address', '=', account)
    .execute()
}
