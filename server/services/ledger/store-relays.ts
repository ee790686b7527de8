import { sql, type Insertable } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { AttemptsTable, RelaysTable, RelayStatus } from '../database/tables.ts'
import type { FinalBlock } from './final-blocks.ts'

/** A relay with its first transaction. Of a bundle, the relay at place 0 brings the transaction of all. */
export type NewRelay = Omit<Insertable<RelaysTable>, 'status'> &
  Pick<Insertable<AttemptsTable>, 'raw' | 'max_fee_per_gas' | 'max_priority_fee_per_gas' | 'carries'>

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

/** Another process has taken a signer over: what this one wanted to store is to be stored under a new hold. */
export class NotHeldError extends Error {}

/** Who stores, by signer: the names under which this process has taken them. */
export type Holders = ReadonlyMap<string, string>

/** Writes down who has a signer from now on. Lost in a crash of the database, it is lost with whoever had it. */
export async function takeSigner(db: Queries, signer: string, holder: string): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update signer_accounts set holder = ${holder} from quick where address = ${signer}`.execute(db)
}

/**
 * Stores relays, moves the nonces of their signers on and reserves their quota: all of it or nothing, in one statement.
 *
 * @param holders absent: no other process stores
 * @returns false, and nothing is stored, when no signer's nonce is the expected one
 * @throws NotHeldError; what the driver throws for a serialisation failure, when the nonce of some signers is another one, or an
 *   account is in another period, suspended, slowed, registered or not contrary to what is said, or without so much left; when a
 *   budget has not so much left; for a unique violation, when a call or a nonce is
 *   taken. Nothing is stored then
 */
export async function storeRelays(
  db: Queries,
  { relays, nonces, charges, budgets }: NewRelays,
  nowSeconds: number,
  holders?: Holders,
): Promise<boolean> {
  const isHeld = holders ? sql`are_held(${[...holders.keys()]}::text[], ${[...holders.values()]}::text[])` : sql`true`
  const { rows } = await sql<{ stored: boolean | null }>`select case when ${isHeld} then store_relays(
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
    ${JSON.stringify(relays)}::json) end as stored`.execute(db)
  const stored = rows[0]?.stored ?? null
  if (stored === null) throw new NotHeldError('a signer is held by another process')
  return stored
}

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
  /** Of a relay that is given up, the block by which that is known. */
  readonly givenUpAt?: FinalBlock | undefined
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
  const rows = relays.map(({ hash, version, status, mined, givenUpAt, final, reserved, charged }) => ({
    hash,
    version,
    status,
    mined_hash: mined?.hash,
    block_number: mined?.blockNumber ?? givenUpAt?.number,
    block_hash: mined?.blockHash ?? givenUpAt?.hash,
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
