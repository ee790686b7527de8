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
  /** Its place in the first attempt of its bundle; null: it is in no bundle. */
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
  /** The row as it was read, for `known` of `settle()`. */
  readonly row: RelayRow
}

/** A relay with every transaction that was signed for it, the latest last. */
export interface TriedRelay extends OpenRelay {
  readonly attempts: readonly OpenAttempt[]
}

export interface OpenAttempt {
  readonly hash: string
  /** `cancel` also for a transaction of the relay's bundle that leaves the relay out: it uses up the nonce without the call. */
  readonly kind: AttemptsTable['kind']
  readonly nonce: number
  readonly fees: Fees
  readonly createdAtMs: number
}

/**
 * The relays of an account that are not final, in the order of its nonces. The calls of a bundle come together.
 *
 * @param fromNonce all relays below this nonce are final. PostgreSQL keeps their index entries until the next vacuum, and
 *   would read each of them
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
  // When the limit cuts the last bundle in two, its calls wait for the next look.
  const whole = last?.place == null ? rows : rows.filter(({ account_nonce }) => account_nonce !== last.account_nonce)
  return whole.map(toOpenRelay)
}

/**
 * Adds to relays what was signed for them. It is a query of its own, because most relays are mined by their first
 * transaction, and then nobody needs the others.
 */
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

/** The call data that a relay's first attempt has for the key manager. */
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

/** By hash, what transactions of bundles carry: see `AttemptsTable.carries`. */
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

/** By hash, the signed bytes of transactions, hex. */
export async function rawOf(db: Queries, hashes: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom('attempts').select(['hash', 'raw']).where('hash', '=', anyOf(hashes)).execute()
  return new Map(rows.map(({ hash, raw }) => [hash, raw]))
}

/** The relayer's accounts that have relays which are not final. */
export async function accountsWithOpenRelays(db: Queries): Promise<string[]> {
  const rows = await db.selectFrom('relays').where('final', '=', false).select('account').distinct().execute()
  return rows.map(({ account }) => account)
}

// Long columns are left out: each look at an account reads all its open relays, and few looks need more.
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
 * Opens final relays of an account with these nonces again. In spite of the confirmations, the chain has lost their blocks,
 * or the blocks of the transactions that had used their nonces.
 *
 * @returns how many relays were opened
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

/** Whether some relay of an account with one of these nonces is open. */
export async function hasOpen(db: Queries, account: string, { from, below }: NonceRange): Promise<boolean> {
  const open = db.selectFrom('relays').where('account', '=', account).where('final', '=', false)
  const inRange = open.where('account_nonce', '>=', from).where('account_nonce', '<', below)
  return (await inRange.select('hash').limit(1).executeTakeFirst()) !== undefined
}

/**
 * The blocks of final relays, the latest first. For a relay that was given up it is the head at that time.
 *
 * @param sinceMs only relays that were accepted since then are considered, Unix milliseconds
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
 * Opens the final relays of these blocks again, because the chain has other blocks now.
 *
 * @param hashes of the blocks
 * @returns how many relays were opened
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
