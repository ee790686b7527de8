import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import { retryOnConflict } from '../database/database-fault.ts'
import { moveReservation, planOf } from '../quotas/account.ts'
import type { Plans } from '../quotas/plans.ts'
import { maxFeePerGas, type Fees, type SignedTransaction } from '../../ethereum/sign-transaction.ts'
import { lockStoredAccounts, saveAccounts } from './account-rows.ts'

/** Another transaction for a relay that is not mined. */
export interface NewAttempt {
  /** `relays.hash`. */
  readonly relay: string
  readonly kind: 'call' | 'cancel'
  readonly account: string
  /** The relay's nonce when this was decided: with another one, somebody else has acted since. */
  readonly seenNonce: number
  /** The nonce to use again; or the next one, which is not below what the chain has used. */
  readonly nonce: number | { readonly notBelow: number }
  readonly fees: Fees
  readonly gasLimit: bigint
  readonly sign: (nonce: number) => SignedTransaction
}

/**
 * Stores another attempt before it is sent. What it may cost more is reserved as far as the account allows: the
 * relay is under way, and is not stopped for that.
 *
 * @returns what is to be sent; undefined when the relay was mined, given up or given another nonce meanwhile
 */
export async function storeAttempt(
  db: Queries,
  { relay: hash, kind, account, seenNonce, nonce: wantedNonce, fees, gasLimit, sign }: NewAttempt,
  { plans, nowMs }: { plans: Plans; nowMs: number },
): Promise<SignedTransaction | undefined> {
  return retryOnConflict(() =>
    db.transaction().execute(async (transaction) => {
      // Signer, account, relay: always locked in this order.
      const nonce =
        typeof wantedNonce === 'number' ? wantedNonce : await takeNonce(transaction, account, wantedNonce.notBelow)
      const { profile } = await transaction
        .selectFrom('relays')
        .where('hash', '=', hash)
        .select('profile')
        .executeTakeFirstOrThrow()
      const accounts = await lockStoredAccounts(transaction, [profile])
      const relay = await transaction
        .selectFrom('relays')
        .where('hash', '=', hash)
        .selectAll()
        .forUpdate()
        .executeTakeFirstOrThrow()
      if (relay.final || relay.mined_hash !== null || Number(relay.account_nonce) !== seenNonce)
        throw new NotOpenError()

      const quota = accounts.get(profile)
      let reserved = BigInt(relay.reserved)
      const wanted = planOf(relay, plans).reserve({ gasLimit, maxFeePerGasWei: maxFeePerGas(fees) })
      if (wanted > reserved && quota?.period === relay.period) {
        const moved = moveReservation(quota, reserved, wanted)
        reserved = moved.taken
        await saveAccounts(transaction, [moved.account]).execute()
      }
      await transaction
        .updateTable('relays')
        .set({ account_nonce: nonce, reserved: String(reserved) })
        .where('hash', '=', hash)
        .execute()
      const signed = sign(nonce)
      await transaction
        .insertInto('attempts')
        .values({
          ...signed,
          relay: hash,
          kind,
          account,
          account_nonce: nonce,
          ...feeColumns(fees),
          // The calendar may have been set back since the one before it, which this one comes after all the same.
          created_at_ms: sql<number>`greatest(${nowMs}::bigint, (select max(created_at_ms) + 1 from ${sql.table('attempts')} where relay = ${hash}))`,
        })
        .execute()
      return signed
    }),
  ).catch((error: unknown) => {
    if (error instanceof NotOpenError) return undefined
    throw error
  })
}

/** Rolls the transaction back: the nonce is not taken. */
class NotOpenError extends Error {}

/** The account's next nonce, taken; never one that the chain has used. */
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
