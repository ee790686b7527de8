import { sql } from 'kysely'
import { anyOf, type AttemptsTable } from '../database/tables.ts'
import type { RelayStatus } from '../relay-services.ts'
import { min } from '../../ethereum/bigint.ts'
import type { Queries } from '../database/database.ts'
import { planOf, moveReservation, type Account, type Plans } from '../quotas/plans.ts'
import { callStateOf, nextCallState, isFinal, statusOf, type CallEvent } from './lifecycle.ts'
import { retryOnConflict } from '../database/postgres-pool.ts'
import { lockStoredAccounts, toAccount } from './accounts.ts'

/** A mined transaction of a relay. */
export interface Mined {
  /** `relays.hash`. */
  readonly relay: string
  /** Hash of the transaction that was mined. */
  readonly attempt: string
  readonly kind: AttemptsTable['kind']
  readonly succeeded: boolean
  readonly blockNumber: number
  readonly blockHash: string
  /** For a call in a bundle: the call's part of the transaction's gas. */
  readonly gasUsed: bigint
  readonly effectiveGasPriceWei: bigint
  /** What the chain took beside gas, for the data of the transaction; for a call in a bundle, its part of it. */
  readonly dataFeeWei: bigint
  /** Deep enough in the chain to stay. */
  readonly final: boolean
}

interface SettleOptions extends ChangeOptions {
  /** Time of the chain's head, Unix seconds. */
  readonly chainSeconds: bigint
}

/**
 * Writes down that relays are mined, and charges their profiles. A relay that reverted is charged, too, and so is the
 * transaction that used up the nonce of an expired one. The rest of the reservation is given back, unless the account has
 * begun a new period. A relay may be mined again in another block after a reorganisation; then what was written before is
 * corrected.
 */
export async function settle(db: Queries, mined: readonly Mined[], options: SettleOptions): Promise<Settlement[]> {
  const byRelay = new Map(mined.map((one) => [one.relay, one]))
  return changeRelays(db, [...byRelay.keys()], options, (relay) => {
    const one = byRelay.get(relay.hash)
    if (!one || relay.final) return undefined
    const outcome = one.kind === 'cancel' ? 'cancelled' : one.succeeded ? 'executed' : 'failed'
    const isExpired = relay.expires_at !== null && BigInt(relay.expires_at) < options.chainSeconds
    // The profile pays for a cancelled call only when the call has expired, and only for gas that was used for it.
    const isFree = one.kind === 'cancel' && (!isExpired || one.gasUsed === 0n)
    return {
      cost: isFree ? 0n : planOf(relay, options.plans).settle(one),
      gasUsed: one.gasUsed,
      events: one.final ? [outcome, 'confirmed'] : [outcome],
      mined: { hash: one.attempt, blockNumber: one.blockNumber, blockHash: one.blockHash, gasUsed: one.gasUsed },
    }
  })
}

/** The chain has dropped the blocks of these relays: they wait again, and their quota is reserved again. */
export async function unsettle(db: Queries, relays: readonly string[], options: ChangeOptions): Promise<Settlement[]> {
  return changeRelays(db, relays, options, (relay) => {
    if (relay.final || relay.mined_hash === null) return undefined
    return { cost: null, gasUsed: 0n, events: ['dropped'], mined: null }
  })
}

/** A relay, and the account nonce that it had when something was decided for it. */
interface SeenRelay {
  readonly hash: string
  readonly accountNonce: number
}

/**
 * Gives relays up that can never be mined. Nothing is charged. A relay is left alone when another process has given it
 * another nonce since it was seen, because it can be mined with that one.
 *
 * @param head on the chain up to this block, something else has their nonces
 */
export async function abandon(
  db: Queries,
  relays: readonly SeenRelay[],
  head: FinalBlock,
  options: ChangeOptions,
): Promise<Settlement[]> {
  const seen = new Map(relays.map(({ hash, accountNonce }) => [hash, accountNonce]))
  return changeRelays(db, [...seen.keys()], options, (relay) => {
    const isOpen = !relay.final && relay.mined_hash === null && Number(relay.account_nonce) === seen.get(relay.hash)
    return isOpen ? { cost: 0n, gasUsed: 0n, events: ['lost'], givenUpAt: head } : undefined
  })
}

/** Marks relays as deep enough in the chain to stay. */
export async function finalise(db: Queries, relays: readonly string[]): Promise<void> {
  if (relays.length === 0) return
  const confirmed = await db
    .updateTable('relays')
    .set({ final: true })
    .where('hash', '=', anyOf(relays))
    .where('mined_hash', 'is not', null)
    .where('final', '=', false)
    .returning(['status', 'mined_hash'])
    .execute()
  for (const row of confirmed) nextCallState(callStateOf({ ...row, final: false }), 'confirmed')
}

/** A block that holds relays, or at which relays were given up. */
export interface FinalBlock {
  readonly number: number
  readonly hash: string
}

/** The outcome of a relay, for logs and metrics. */
export interface Settlement {
  readonly relay: string
  readonly profile: string
  readonly plan: string
  readonly status: RelayStatus
  readonly charged: bigint
  readonly gasUsed: bigint
}

interface ChangeOptions {
  readonly plans: Plans
  readonly nowSeconds: number
  /** The relays as the caller has read them; absent: they are read now. */
  readonly known?: readonly RelayRow[]
}

/** What becomes of one relay. */
interface Change {
  /** What the account pays, in the unit of its plan; null: the reservation stands. */
  readonly cost: bigint | null
  readonly gasUsed: bigint
  /** What has happened to the relay, in order: see `lifecycle.ts`. */
  readonly events: readonly CallEvent[]
  /** Absent: unchanged. */
  readonly mined?: MinedIn | null
  /** For a relay that is given up: the head of the chain when that was decided. */
  readonly givenUpAt?: FinalBlock
}

/** The columns of a relay that a change needs. */
export const changeColumns = [
  'hash',
  'profile',
  'plan',
  'period',
  'reserved',
  'charged',
  'status',
  'final',
  'mined_hash',
  'block_number',
  'block_hash',
  'gas_used',
  'expires_at',
  'account_nonce',
  // The database transaction that wrote the row. When it differs, somebody has changed the row since it was read.
  sql<string>`relays.xmin::text`.as('version'),
] as const
export type RelayRow = Awaited<ReturnType<ReturnType<typeof readRelays>['execute']>>[number]

/**
 * Changes relays and what they take of their accounts: all of it or nothing.
 *
 * The first try works with the rows as they were read, so that no lock is held for longer than one statement: accounts
 * under load would wait for it. The database checks that the rows are unchanged. When they are not, or when a relay
 * takes more than before, the second try reads everything under locks.
 *
 * @param decide undefined leaves the relay as it is
 */
async function changeRelays(
  db: Queries,
  hashes: readonly string[],
  options: ChangeOptions,
  decide: (relay: RelayRow) => Change | undefined,
): Promise<Settlement[]> {
  if (hashes.length === 0) return []
  return retryOnConflict(
    async (tries) =>
      (tries === 1 ? await changeAtOnce(db, hashes, options, decide) : undefined) ??
      (await changeUnderLocks(db, hashes, options, decide)),
  )
}

/**
 * @returns undefined when a relay would take more of its account than before; nothing is changed then
 * @throws the driver's serialisation failure (40001) when a row has changed since it was read
 */
async function changeAtOnce(
  db: Queries,
  hashes: readonly string[],
  { known, nowSeconds }: ChangeOptions,
  decide: (relay: RelayRow) => Change | undefined,
): Promise<Settlement[] | undefined> {
  const wanted = new Set(hashes)
  const relays = known?.filter(({ hash }) => wanted.has(hash)) ?? (await readRelays(db, hashes).execute())
  const profiles = [...new Set(relays.map(({ profile }) => profile))]
  const rows = await db
    .selectFrom('profiles')
    .selectAll()
    .where('address', '=', anyOf(profiles))
    .orderBy('address')
    .execute()
  const { settlements, changes } = draftChanges(relays, rows.map(toAccount), decide)
  if (changes.charges.some(({ amount }) => amount > 0n)) return undefined
  await storeChanges(db, changes, nowSeconds)
  return settlements
}

async function changeUnderLocks(
  db: Queries,
  hashes: readonly string[],
  { nowSeconds }: ChangeOptions,
  decide: (relay: RelayRow) => Change | undefined,
): Promise<Settlement[]> {
  return db.transaction().execute(async (transaction) => {
    const profiles = await transaction
      .selectFrom('relays')
      .where('hash', '=', anyOf(hashes))
      .select('profile')
      .distinct()
      .execute()
    // Accounts are locked before relays everywhere, so that no two transactions wait for each other.
    const accounts = await lockStoredAccounts(
      transaction,
      profiles.map(({ profile }) => profile),
    )
    const relays = await readRelays(transaction, hashes).forUpdate().execute()
    const { settlements, changes } = draftChanges(relays, [...accounts.values()], decide)
    await storeChanges(transaction, changes, nowSeconds)
    return settlements
  })
}

/** Decides about each relay, one after the other, and adds up what that changes in the accounts. */
function draftChanges(
  rows: readonly RelayRow[],
  accounts: readonly Account[],
  decide: (relay: RelayRow) => Change | undefined,
): { settlements: Settlement[]; changes: Changes } {
  const after = new Map(accounts.map((account) => [account.profile, account]))
  const settlements: Settlement[] = []
  const relays: ChangedRelay[] = []
  const reverts = new Map<string, number>()
  for (const relay of rows) {
    const decided = decide(relay)
    if (!decided) continue
    const reserved = BigInt(relay.reserved)
    const taken = relay.charged === null ? reserved : BigInt(relay.charged)
    const wanted = decided.cost ?? reserved
    const account = after.get(relay.profile)
    let charged = min(wanted, reserved)
    if (account?.period === relay.period) {
      const moved = moveReservation(account, taken, charged)
      after.set(relay.profile, moved.account)
      charged = moved.taken
    }
    const state = decided.events.reduce(nextCallState, callStateOf(relay))
    const status = statusOf(state)
    const more = Number(status === 'reverted') - Number(relay.status === 'reverted')
    if (more !== 0) reverts.set(relay.profile, (reverts.get(relay.profile) ?? 0) + more)
    relays.push({
      hash: relay.hash,
      version: relay.version,
      status,
      mined: decided.mined === undefined ? minedIn(relay) : decided.mined,
      givenUpAt: decided.givenUpAt,
      final: isFinal(state),
      reserved: decided.cost === null ? charged : reserved,
      charged: decided.cost === null ? null : charged,
    })
    const { hash, profile, plan } = relay
    settlements.push({ relay: hash, profile, plan, status, charged, gasUsed: decided.gasUsed })
  }
  const charges = accounts
    .map(({ profile, period, used }) => ({ profile, period, amount: (after.get(profile)?.used ?? used) - used }))
    .filter(({ amount }) => amount !== 0n)
  const reverting = accounts.flatMap(({ profile }) => ({ profile, more: reverts.get(profile) ?? 0 }))
  return { settlements, changes: { relays, charges, reverts: reverting.filter(({ more }) => more !== 0) } }
}

function readRelays(db: Queries, hashes: readonly string[]) {
  return db.selectFrom('relays').where('hash', '=', anyOf(hashes)).orderBy('hash').select(changeColumns)
}

/** @returns null while the relay is not mined */
export function minedIn({ mined_hash, block_number, block_hash, gas_used }: RelayRow): MinedIn | null {
  if (mined_hash === null || block_hash === null) return null
  return {
    hash: mined_hash,
    blockNumber: Number(block_number),
    blockHash: block_hash,
    gasUsed: BigInt(gas_used ?? 0),
  }
}

/** Relays as they shall be stored, and what that changes in their accounts. */
interface Changes {
  readonly relays: readonly ChangedRelay[]
  /** One for each profile. A negative amount gives something back. */
  readonly charges: readonly { readonly profile: string; readonly period: number; readonly amount: bigint }[]
  /** How many more of a profile's relays have reverted; negative after a reorganisation. */
  readonly reverts: readonly { readonly profile: string; readonly more: number }[]
}

interface ChangedRelay {
  readonly hash: string
  /** `xmin` of the row that was read: the database transaction that wrote it. */
  readonly version: string
  readonly status: RelayStatus
  readonly mined: MinedIn | null
  /** For a relay that is given up: the head of the chain when that was decided. */
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
 * Stores changes of relays and charges their accounts: all of it or nothing, in one statement. The statement does not wait
 * for the disk: when a crash of the database loses it, the follower reads the same from the chain again.
 *
 * @throws the driver's serialisation failure (40001) when an account is in another period, or a relay has changed since it
 *   was read; nothing is stored then
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
