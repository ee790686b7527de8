import { sql } from 'kysely'
import { max } from '../../ethereum/bigint.ts'
import type { Queries } from '../database/database.ts'
import { retryOnConflict } from '../database/postgres-pool.ts'
import { moveReservation, planOf, type Plans } from '../quotas/plans.ts'
import { maxFeePerGas, type Fees, type SignedTransaction } from '../../ethereum/transaction.ts'
import { lockStoredAccounts, saveAccounts } from './accounts.ts'

/** Another transaction for a relay, or for a bundle of relays, that is not mined. */
export interface NewAttempt {
  /** Hash of the first attempt: `attempts.relay`. */
  readonly transaction: string
  readonly kind: 'call' | 'cancel'
  /** The relays that it carries, by `relays.hash`. */
  readonly relays: readonly string[]
  /** See `AttemptsTable.carries`. */
  readonly carries: readonly number[] | null
  readonly account: string
  /** The relays' nonce when this attempt was decided. If they have another one now, another process has acted since. */
  readonly seenNonce: number
  /** Hash of the latest attempt when this one was decided. If there is a later one now, another process has acted since. */
  readonly seenAttempt?: string
  /** The nonce that is used again; or `notBelow`: the account's next nonce, and at least the chain's. */
  readonly nonce: number | { readonly notBelow: number }
  readonly fees: Fees
  /** Gas limit of the whole transaction. */
  readonly gasLimit: bigint
  readonly sign: (nonce: number) => SignedTransaction
}

/**
 * Stores another attempt before it is sent. If it may cost more than before, more quota is reserved, as far as the accounts
 * have some: a relay that is under way is not stopped because its profile's quota is used up.
 *
 * @returns the transaction to be sent; undefined when a relay was mined, given up, replaced or given another nonce meanwhile
 */
export async function storeAttempt(
  db: Queries,
  attempt: NewAttempt,
  { plans, nowMs }: { plans: Plans; nowMs: number },
): Promise<SignedTransaction | undefined> {
  const { transaction: first, kind, account, nonce: wantedNonce, fees, sign, carries } = attempt
  return retryOnConflict(() =>
    db.transaction().execute(async (transaction) => {
      // Signer, accounts, relays: locked in this order everywhere.
      const nonce =
        typeof wantedNonce === 'number' ? wantedNonce : await takeNonce(transaction, account, wantedNonce.notBelow)
      await reserveMore(transaction, attempt, plans)
      await transaction
        .updateTable('relays')
        .set({ account_nonce: nonce })
        .where((row) => row.or([row('hash', '=', first), row('bundle', '=', first)]))
        .where('final', '=', false)
        .execute()
      const signed = sign(nonce)
      await transaction
        .insertInto('attempts')
        .values({
          ...signed,
          relay: first,
          kind,
          account,
          account_nonce: nonce,
          ...feeColumns(fees),
          // The clock may have been set back since the attempt before it. The order of attempts must not change by that.
          created_at_ms: sql<number>`greatest(${nowMs}::bigint, (select max(created_at_ms) + 1 from ${sql.table('attempts')} where relay = ${first}))`,
          ...(carries && { carries: [...carries] }),
        })
        .execute()
      return signed
    }),
  ).catch((error: unknown) => {
    if (error instanceof NotOpenError) return undefined
    throw error
  })
}

/** Locks the accounts and the relays of an attempt, and reserves what it may cost. @throws NotOpenError */
async function reserveMore(
  db: Queries,
  { transaction: first, kind, relays: carried, seenNonce, seenAttempt, fees, gasLimit }: NewAttempt,
  plans: Plans,
): Promise<void> {
  const ofTransaction = () =>
    db
      .selectFrom('relays')
      .where((row) => row.or([row('hash', '=', first), row('bundle', '=', first)]))
      .orderBy('hash')
  const profiles = (await ofTransaction().select('profile').execute()).map(({ profile }) => profile)
  const accounts = await lockStoredAccounts(db, profiles)
  const relays = (await ofTransaction().selectAll().forUpdate().execute()).filter(({ final }) => !final)
  const isOpen = relays.every(({ mined_hash, account_nonce }) => {
    return mined_hash === null && Number(account_nonce) === seenNonce
  })
  if (!isOpen || !carried.every((hash) => relays.some((relay) => relay.hash === hash)) || relays.length === 0)
    throw new NotOpenError()
  if (seenAttempt !== undefined && (await lastAttemptOf(db, first)) !== seenAttempt) throw new NotOpenError()
  // A transaction that only uses up the nonce of expired calls is paid for by all of them in equal parts.
  const evenPart = (gasLimit + BigInt(relays.length) - 1n) / BigInt(relays.length)
  for (const relay of kind === 'call' ? relays.filter(({ hash }) => carried.includes(hash)) : relays) {
    const quota = accounts.get(relay.profile)
    const reserved = BigInt(relay.reserved)
    const limits = {
      gasLimit: kind === 'call' ? BigInt(relay.gas_limit) : evenPart,
      maxFeePerGasWei: maxFeePerGas(fees),
    }
    const wanted = max(planOf(relay, plans).reserve(limits), reserved)
    // A relay that was given up, and opened again by a reorganisation, holds nothing.
    const held = relay.charged === null ? reserved : BigInt(relay.charged)
    if (wanted <= held || quota?.period !== relay.period) continue
    const moved = moveReservation(quota, held, wanted)
    accounts.set(relay.profile, moved.account)
    await saveAccounts(db, [moved.account]).execute()
    await db
      .updateTable('relays')
      .set({ reserved: String(moved.taken), charged: null })
      .where('hash', '=', relay.hash)
      .execute()
  }
}

async function lastAttemptOf(db: Queries, transaction: string): Promise<string | undefined> {
  const attempts = db.selectFrom('attempts').select('hash').where('relay', '=', transaction)
  return (await attempts.orderBy('created_at_ms', 'desc').limit(1).executeTakeFirst())?.hash
}

/** Rolls the database transaction back, so that no nonce is taken. */
class NotOpenError extends Error {}

/** Takes the account's next nonce, and at least `chainNonce`. */
async function takeNonce(db: Queries, account: string, chainNonce: number): Promise<number> {
  const { next_nonce } = await db
    .selectFrom('signer_accounts')
    .where('address', '=', account)
    .select('next_nonce')
    .forUpdate()
    .executeTakeFirstOrThrow()
  const nonce = Math.max(Number(next_nonce), chainNonce)
  await db
    .updateTable('signer_accounts')
    .set({ next_nonce: nonce + 1 })
    .where('address', '=', account)
    .execute()
  return nonce
}

/** What a transaction offers for gas, as `attempts` keeps it. */
export function feeColumns(fees: Fees) {
  return {
    max_fee_per_gas: String(maxFeePerGas(fees)),
    max_priority_fee_per_gas: fees.type === 2 ? String(fees.maxPriorityFeePerGas) : null,
  }
}
