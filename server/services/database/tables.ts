import { sql, type ColumnType, type Generated, type Kysely, type RawBuilder } from 'kysely'
import type { RelayStatus } from '../relay-services.ts'

/** `numeric(78)`: a uint256, exact; drivers hand it out as a decimal string. */
type Uint256 = ColumnType<string, string | bigint, string | bigint>

/** `bigint`: at most 2^53 - 1 here; drivers hand it out as a number or a decimal string. */
type Integer = ColumnType<string | number, string | number | bigint, string | number | bigint>

/** The operator's decisions about a profile, and its quota account. */
export interface ProfilesTable {
  /** Checksummed address. */
  address: string
  /** Whether the operator added it. Under open registration the server adds rows itself. */
  registered: boolean
  suspended: Generated<boolean>
  plan: string
  /** The allowance of the current period, in the unit of the plan's model. */
  allowance: Uint256
  /** The amount used in the current period, reservations included. */
  used: Uint256
  /** Unix seconds; null: never. */
  reset_at: Integer | null
  /** Number of resets and changes of plan. A reservation is settled only in the period in which it was made. */
  period: Generated<number>
  /** Calls that reverted although their simulation succeeded. One is forgotten each hour. */
  reverts: Generated<number>
  /** Unix seconds. */
  reverted_at: ColumnType<string | number, number | undefined, number>
  /** Unix seconds. Calls of the profile are refused until then. */
  slowed_until: ColumnType<string | number, number | undefined, number>
}

/** Gas that unregistered profiles used together in the latest window. */
export interface BudgetsTable {
  /** Who draws on the budget, and the length of its window: see `budgets.ts` in `server/services/ledger`. */
  scope: string
  /** Unix seconds. */
  starts_at: Integer
  /** Gas. */
  used: Uint256
}

/** Accepted relay calls. */
export interface RelaysTable {
  /**
   * Hash of the first attempt, which carries the call and was told to the caller. For a call in a bundle it is
   * `<bundle>/<place>`, a name that only the ledger uses.
   */
  hash: string
  /** Hash over what makes two requests the same call, whatever their spelling. */
  identity: string
  profile: string
  key_manager: string
  signer: string
  /** `channel << 128 | id` (LSP25). */
  nonce: Uint256
  /** Unix seconds after which the key manager refuses the call; null: never. */
  expires_at: Uint256 | null
  status: RelayStatus
  plan: string
  /** Period of the profile's account in which the call was reserved. */
  period: number
  reserved: Uint256
  /** Null before the call is mined. */
  charged: Uint256 | null
  gas_limit: Integer
  /** The relayer's account that sends it. */
  account: string
  account_nonce: Integer
  /** The attempt that was mined, and its block. For a call that was given up: the head of the chain when that was decided. */
  mined_hash: string | null
  block_number: Integer | null
  block_hash: string | null
  gas_used: Integer | null
  /** Whether its block is deep enough in the chain to be final. */
  final: Generated<boolean>
  /** Whether the call had reverted, or was given up, and another relay has its nonce now. */
  superseded: Generated<boolean>
  created_at_ms: Integer
  /** Id of the HTTP request, for the log of what follows. */
  request_id: string | null
  /** Hash of the first attempt of the call's bundle, which its callers were told; null: the call is in no bundle. */
  bundle: ColumnType<string | null, string | null | undefined, never>
  /** The call's place in the first attempt of its bundle, from 0 on; null: the call is in no bundle. */
  place: ColumnType<number | null, number | null | undefined, never>
}

/** Every transaction that was signed. */
export interface AttemptsTable {
  hash: string
  /** `relays.bundle`, or `relays.hash` of a call in no bundle: hash of the first attempt. */
  relay: string
  /** `call` carries the relay call; `cancel` only uses up the account's nonce. */
  kind: 'call' | 'cancel'
  account: string
  account_nonce: Integer
  /** The signed bytes, hex. */
  raw: string
  /** Wei; for a legacy transaction its gas price. */
  max_fee_per_gas: Uint256
  /** Wei; null for a legacy transaction. */
  max_priority_fee_per_gas: Uint256 | null
  /** When it was signed, in Unix milliseconds. */
  created_at_ms: Integer
  /** Places of the calls of a bundle that it carries, in the order in which it makes them; null: it is none of a bundle. */
  carries: ColumnType<number[] | null, number[] | null | undefined, never>
}

/** Account nonces of the relayer. */
export interface SignerAccountsTable {
  address: string
  next_nonce: Integer
  /** Every transaction of the account below this nonce was offered to a node, and perhaps some above it. */
  offered_below: ColumnType<string | number, number | undefined, number>
  /** The account's next nonce on the chain, while the node refuses the transaction with that nonce. */
  refused_nonce: ColumnType<string | number | null, number | undefined, number | null>
  refused_since_ms: ColumnType<string | number | null, number | undefined, number | null>
  /** How often it was refused. */
  refusals: Generated<number>
  /** Random name of the holder that took the account last, to store and to send. */
  holder: ColumnType<string | null, string | undefined, string>
}

/** Facts about the ledger itself. */
export interface FactsTable {
  name: string
  value: string
}

export interface Tables {
  budgets: BudgetsTable
  profiles: ProfilesTable
  relays: RelaysTable
  attempts: AttemptsTable
  signer_accounts: SignerAccountsTable
  facts: FactsTable
}

/** Queries of these tables. */
export type Queries = Kysely<Tables>

/** The transaction that carries a relay, by the hash of its first attempt: `attempts.relay`. */
export const transactionOf = sql<string>`coalesce(relays.bundle, relays.hash)`

/**
 * `= any(array)`: a list as one parameter. The statement is the same for every length, and long ones are quick to read.
 *
 * @example db.selectFrom('relays').where('hash', '=', anyOf(hashes))
 */
export function anyOf(texts: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${texts}::text[])`
}
