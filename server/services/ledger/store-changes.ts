import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { RelayStatus } from '../database/tables.ts'

/** Relays as they are to be, and what that changes in their accounts. */
export interface Changes {
  readonly relays: readonly ChangedRelay[]
  /** Amounts may be negative; one for each profile. */
  readonly charges: readonly { readonly profile: string; readonly period: number; readonly amount: bigint }[]
  /** How many more of a profile's relays have reverted; negative where the chain took that back. */
  readonly reverts: readonly { readonly profile: string; readonly more: number }[]
}

export interface ChangedRelay {
  readonly hash: string
  /** Of the row that was read: `xmin`, the transaction that wrote it. */
  readonly version: string
  readonly status: RelayStatus
  readonly mined: MinedIn | null
  readonly final: boolean
  readonly reserved: bigint
  readonly charged: bigint | null
}

/** The attempt that was mined, and where. */
export interface MinedIn {
  readonly hash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly gasUsed: bigint
}

/**
 * Stores changes of relays and charges their accounts: all of it or nothing, in one statement. It does not wait for the
 * disk: what a crash of the database loses is found out again on the chain.
 *
 * @throws what the driver throws for a serialisation failure when an account is in another period, or a relay is not
 *   what was read; nothing is stored
 */
export async function storeChanges(
  db: Queries,
  { relays, charges, reverts }: Changes,
  nowSeconds: number,
): Promise<void> {
  if (relays.length === 0) return
  const rows = relays.map(({ hash, version, status, mined, final, reserved, charged }) => ({
    hash,
    version,
    status,
    mined_hash: mined?.hash,
    block_number: mined?.blockNumber,
    block_hash: mined?.blockHash,
    gas_used: mined && String(mined.gasUsed),
    final,
    reserved: String(reserved),
    charged: charged === null ? null : String(charged),
  }))
  await sql`select
    set_config('synchronous_commit', 'off', true),
    change_relays(
      ${charges.map(({ profile }) => profile)}::text[],
      ${charges.map(({ period }) => period)}::integer[],
      ${charges.map(({ amount }) => String(amount))}::numeric[],
      ${reverts.map(({ profile }) => profile)}::text[],
      ${reverts.map(({ more }) => more)}::integer[],
      ${nowSeconds}::bigint,
      ${JSON.stringify(rows)}::json)`.execute(db)
}
