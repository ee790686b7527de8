import type { Selectable } from 'kysely'
import { anyOf, type AttemptsTable, type RelaysTable } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import type { Fees } from '../../ethereum/transaction.ts'
import { createCallReader } from '../../ethereum/bundle.ts'
import { changeColumns, minedIn, type RelayRow, type MinedIn, type FinalBlock } from './settle.ts'
import { callStateOf, nextCallState } from './lifecycle.ts'
import type { NonceRange } from './signer-accounts.ts'

/** A relay that is not final. */
export interface OpenRelay {
  readonly hash: string
  /** Hash of its first attempt, which the calls of a bundle share. */
  readonly transaction: string
  /** In the first attempt of its bundle; null: it is in none. */
  readonly place: number | null
  readonly profile: string
  readonly keyManager: string
  readonly signer: string
  readonly nonce: bigint
  readonly status: RelaysTable['status']
  readonly gasLimit: bigint
  readonly accountNonce: number
  /** Unix seconds; null: never. */
  readonly expiresAt: bigint | null
  /** Null while it is not mined. */
  readonly mined: MinedIn | null
  readonly requestId: string | null
  /** As it was read, for `ChangeOptions.known`. */
  readonly row: RelayRow
}

/** With every transaction that was signed for it, the latest last. */
export interface TriedRelay extends OpenRelay {
  readonly attempts: readonly OpenAttempt[]
}

export interface OpenAttempt {
  readonly hash: string
  /** A transaction of the relay's bundle that leaves the relay out is `cancel`, too: it uses up the nonce without the call. */
  readonly kind: AttemptsTable['kind']
  readonly nonce: number
  readonly fees: Fees
  readonly createdAtMs: number
}

/**
 * The relays of an account that are not final, in the order of its nonces. The calls of a bundle come together.
 *
 * @param fromNonce one below which all are final, as they stay: the index still has those until the next vacuum
 */
export async function openRelays(
  db: Queries,
  account: string,
  { fromNonce, limit }: { fromNonce: number; limit: number },
): Promise<OpenRelay[]> {
  const rows = await db
    .selectFrom('relays')
    .select([...relayColumns, ...changeColumns])
    .where('account', '=', account)
    .where('account_nonce', '>=', fromNonce)
    .where('final', '=', false)
    .orderBy('account_nonce')
    .orderBy('place')
    .limit(limit)
    .execute()
  const last = rows.length === limit ? rows.at(-1) : undefined
  // The rest of the last bundle may be beyond the limit.
  const whole = last?.place == null ? rows : rows.filter(({ account_nonce }) => account_nonce !== last.account_nonce)
  return whole.map(toOpenRelay)
}

/** The relays with what was signed for them: most are mined by their first transaction, and nobody asks. */
export async function withAttempts(db: Queries, relays: readonly OpenRelay[]): Promise<TriedRelay[]> {
  if (relays.length === 0) return []
  const attempts = await db
    .selectFrom('attempts')
    .select(attemptColumns)
    .where('relay', '=', anyOf([...new Set(relays.map(({ transaction }) => transaction))]))
    .orderBy('created_at_ms')
    .execute()
  const byTransaction = Map.groupBy(attempts, ({ relay }) => relay)
  return relays.map((relay) => ({
    ...relay,
    attempts: (byTransaction.get(relay.transaction) ?? []).map((row) => toOpenAttempt(row, relay.place)),
  }))
}

/** Call data for the key manager. */
export async function callDataOf(
  db: Queries,
  { transaction, place }: Pick<OpenRelay, 'transaction' | 'place'>,
): Promise<string> {
  const { raw } = await db
    .selectFrom('attempts')
    .select('raw')
    .where('hash', '=', transaction)
    .executeTakeFirstOrThrow()
  return createCallReader()(raw, place).data
}

/** What transactions of bundles carry, by their hashes: see `AttemptsTable.carries`. */
export async function carriedBy(
  db: Queries,
  hashes: readonly string[],
): Promise<Map<string, { readonly raw: string; readonly carries: readonly number[] }>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('attempts')
    .select(['hash', 'raw', 'carries'])
    .where('hash', '=', anyOf(hashes))
    .execute()
  return new Map(rows.map(({ hash, raw, carries }) => [hash, { raw, carries: carries ?? [] }]))
}

/** The signed bytes of transactions by their hashes. */
export async function rawOf(db: Queries, hashes: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom('attempts').select(['hash', 'raw']).where('hash', '=', anyOf(hashes)).execute()
  return new Map(rows.map(({ hash, raw }) => [hash, raw]))
}

/** Which accounts have relays that are not final. */
export async function accountsWithOpenRelays(db: Queries): Promise<string[]> {
  const rows = await db.selectFrom('relays').where('final', '=', false).select('account').distinct().execute()
  return rows.map(({ account }) => account)
}

// Without what is long: every look reads them all, and few need more.
const relayColumns = [
  'key_manager',
  'signer',
  'nonce',
  'gas_limit',
  'account_nonce',
  'request_id',
  'bundle',
  'place',
] as const
const attemptColumns = [
  'hash',
  'relay',
  'kind',
  'account_nonce',
  'max_fee_per_gas',
  'max_priority_fee_per_gas',
  'created_at_ms',
  'carries',
] as const

type OpenRow = RelayRow & Pick<Selectable<RelaysTable>, (typeof relayColumns)[number]>
type AttemptRow = Pick<Selectable<AttemptsTable>, (typeof attemptColumns)[number]>

function toOpenRelay(row: OpenRow): OpenRelay {
  return {
    hash: row.hash,
    transaction: row.bundle ?? row.hash,
    place: row.place,
    profile: row.profile,
    keyManager: row.key_manager,
    signer: row.signer,
    nonce: BigInt(row.nonce),
    status: row.status,
    gasLimit: BigInt(row.gas_limit),
    accountNonce: Number(row.account_nonce),
    expiresAt: row.expires_at === null ? null : BigInt(row.expires_at),
    mined: minedIn(row),
    requestId: row.request_id,
    row,
  }
}

function toOpenAttempt(row: AttemptRow, place: number | null): OpenAttempt {
  const carriesIt = row.kind === 'call' && (place === null || row.carries?.includes(place))
  return {
    hash: row.hash,
    kind: carriesIt ? 'call' : 'cancel',
    nonce: Number(row.account_nonce),
    fees: feesOf(row),
    createdAtMs: Number(row.created_at_ms),
  }
}

function feesOf({ max_fee_per_gas, max_priority_fee_per_gas }: AttemptRow): Fees {
  return max_priority_fee_per_gas === null
    ? { type: 0, gasPrice: BigInt(max_fee_per_gas) }
    : { type: 2, maxFeePerGas: BigInt(max_fee_per_gas), maxPriorityFeePerGas: BigInt(max_priority_fee_per_gas) }
}

/**
 * Takes back that the relays of an account with these nonces are final: the chain has lost their blocks, or those of what had
 * their nonces, all the same.
 *
 * @returns how many they are
 */
export async function reopen(db: Queries, account: string, { from, below }: NonceRange): Promise<number> {
  const reopened = await db
    .updateTable('relays')
    .set({ final: false })
    .where('account', '=', account)
    .where('account_nonce', '>=', from)
    .where('account_nonce', '<', below)
    .where('final', '=', true)
    .returning(['status', 'mined_hash'])
    .execute()
  for (const row of reopened) nextCallState(callStateOf({ ...row, final: true }), 'reopened')
  return reopened.length
}

/**
 * The blocks by which relays are held to be final, the latest first.
 *
 * @param sinceMs of relays that were accepted since then, Unix milliseconds
 */
export async function finalBlocks(db: Queries, sinceMs: number): Promise<FinalBlock[]> {
  const rows = await db
    .selectFrom('relays')
    .select(['block_number', 'block_hash'])
    .distinct()
    .where('final', '=', true)
    .where('created_at_ms', '>=', sinceMs)
    .where('block_hash', 'is not', null)
    .orderBy('block_number', 'desc')
    .orderBy('block_hash')
    .execute()
  return rows.map(({ block_number, block_hash }) => ({ number: Number(block_number), hash: String(block_hash) }))
}

/**
 * Takes back that relays are final by these blocks: the chain has other blocks now.
 *
 * @returns how many they are
 */
export async function reopenBlocks(db: Queries, hashes: readonly string[], sinceMs: number): Promise<number> {
  if (hashes.length === 0) return 0
  const reopened = await db
    .updateTable('relays')
    .set({ final: false })
    .where('final', '=', true)
    .where('created_at_ms', '>=', sinceMs)
    .where('block_hash', '=', anyOf(hashes))
    .returning(['status', 'mined_hash'])
    .execute()
  for (const row of reopened) nextCallState(callStateOf({ ...row, final: true }), 'reopened')
  return reopened.length
}
