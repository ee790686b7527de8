import { sql, type Insertable } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { AttemptsTable, RelaysTable } from '../database/tables.ts'

/** A relay with its first transaction, of the same hash. */
export type NewRelay = Omit<Insertable<RelaysTable>, 'status'> &
  Pick<Insertable<AttemptsTable>, 'raw' | 'max_fee_per_gas' | 'max_priority_fee_per_gas'>

/** Relays, and what they take of signers and accounts: each of these once, in the order of their addresses. */
export interface NewRelays {
  readonly relays: readonly NewRelay[]
  readonly nonces: readonly { readonly signer: string; readonly expected: number; readonly next: number }[]
  readonly charges: readonly {
    readonly profile: string
    readonly period: number
    readonly amount: bigint
    readonly registered: boolean
  }[]
  /** What unregistered profiles draw on, and by how much gas. */
  readonly budgets: readonly {
    readonly scope: string
    readonly startsAt: number
    readonly amount: bigint
    readonly limit: bigint
  }[]
}

/**
 * Stores relays, moves the nonces of their signers on and reserves their quota: all of it or nothing, in one statement.
 *
 * @returns false, and nothing is stored, when no signer's nonce is the expected one
 * @throws what the driver throws for a serialisation failure, when the nonce of some signers is another one, or an
 *   account is in another period, suspended, slowed, registered or not contrary to what is said, or without so much left; when a
 *   budget has not so much left; for a unique violation, when a call or a nonce is
 *   taken. Nothing is stored then
 */
export async function storeRelays(
  db: Queries,
  { relays, nonces, charges, budgets }: NewRelays,
  nowSeconds: number,
): Promise<boolean> {
  const { rows } = await sql<{ stored: boolean }>`select store_relays(
    ${nonces.map(({ signer }) => signer)}::text[],
    ${nonces.map(({ expected }) => expected)}::bigint[],
    ${nonces.map(({ next }) => next)}::bigint[],
    ${charges.map(({ profile }) => profile)}::text[],
    ${charges.map(({ period }) => period)}::integer[],
    ${charges.map(({ amount }) => String(amount))}::numeric[],
    ${charges.map(({ registered }) => registered)}::boolean[],
    ${budgets.map(({ scope }) => scope)}::text[],
    ${budgets.map(({ startsAt }) => startsAt)}::bigint[],
    ${budgets.map(({ amount }) => String(amount))}::numeric[],
    ${budgets.map(({ limit }) => String(limit))}::numeric[],
    ${nowSeconds}::bigint,
    ${JSON.stringify(relays)}::json) as stored`.execute(db)
  return rows[0]?.stored === true
}
