import type { Queries } from '../database/database.ts'
import type { NonceRange } from './unsent.ts'

/**
 * Takes back that the mined relays of an account with these nonces are final: the chain has lost their blocks all the same.
 *
 * @returns how many they are
 */
export async function reopen(db: Queries, account: string, { from, below }: NonceRange): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('relays')
    .set({ final: false })
    .where('account', '=', account)
    .where('account_nonce', '>=', from)
    .where('account_nonce', '<', below)
    .where('final', '=', true)
    .where('mined_hash', 'is not', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
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
