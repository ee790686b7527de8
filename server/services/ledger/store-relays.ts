import { sql, type Insertable } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { AttemptsTable, RelaysTable } from '../database/tables.ts'
import type { Registration } from './account-rows.ts'

/** Relays with their first transactions, and what they take of signers and accounts. */
export interface NewRelays {
  readonly relays: readonly Insertable<RelaysTable>[]
  readonly attempts: readonly Insertable<AttemptsTable>[]
  readonly nonces: readonly { readonly signer: string; readonly expected: number; readonly next: number }[]
  readonly charges: readonly { readonly profile: string; readonly period: number; readonly amount: bigint }[]
}

/**
 * Stores relays, moves the nonces of their signers on and reserves their quota: all of it or nothing, in one statement.
 *
 * @returns false, and nothing is stored, when a signer's nonce is another one, or an account is in another period, not
 *   served or without so much left
 * @throws what the driver throws for a call or a nonce that is taken (unique violation); nothing is stored
 */
export async function storeRelays(
  db: Queries,
  { relays, attempts, nonces, charges }: NewRelays,
  registration: Registration,
): Promise<boolean> {
  const { rows } = await sql<{ stored: boolean }>`select store_relays(
    ${nonces.map(({ signer }) => signer)}::text[],
    ${nonces.map(({ expected }) => expected)}::bigint[],
    ${nonces.map(({ next }) => next)}::bigint[],
    ${charges.map(({ profile }) => profile)}::text[],
    ${charges.map(({ period }) => period)}::integer[],
    ${charges.map(({ amount }) => String(amount))}::numeric[],
    ${registration === 'registered'}::boolean,
    ${JSON.stringify(relays)}::json,
    ${JSON.stringify(attempts)}::json) as stored`.execute(db)
  return rows[0]?.stored === true
}
