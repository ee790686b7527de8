import { sql } from 'kysely'
import { anyOf, type RelayStatus } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import { retryOnConflict } from '../database/database-fault.ts'
import { moveReservation, type Account } from '../quotas/account.ts'
import type { Plans } from '../quotas/plans.ts'
import { lockStoredAccounts, toAccount } from './account-rows.ts'
import type { FinalBlock } from './final-blocks.ts'
import { callStateOf, isFinal, nextCallState, statusOf, type CallEvent } from './lifecycle.ts'
import { storeChanges, type ChangedRelay, type Changes, type MinedIn } from './store-relays.ts'

/** What a relay came to, for logs and metrics. */
export interface Settlement {
  readonly relay: string
  readonly profile: string
  readonly plan: string
  readonly status: RelayStatus
  readonly charged: bigint
  readonly gasUsed: bigint
}

export interface ChangeOptions {
  readonly plans: Plans
  readonly nowSeconds: number
  /** The relays as they were read; absent: they are read now. */
  readonly known?: readonly RelayRow[]
}

/** What becomes of one relay. */
export interface Change {
  /** What is taken of the account now; null: what was reserved. */
  readonly cost: bigint | null
  readonly gasUsed: bigint
  /** What has happened to it: see `lifecycle.ts`. */
  readonly events: readonly CallEvent[]
  /** Absent: as it was. */
  readonly mined?: MinedIn | null
  /** Of a relay that is given up, the block by which that is known. */
  readonly givenUpAt?: FinalBlock
}

/** What has to be known of a relay to change it. */
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
  // The transaction that wrote the row: with another one, it is not what was read any more.
  sql<string>`relays.xmin::text`.as('version'),
] as const
export type RelayRow = Awaited<ReturnType<ReturnType<typeof readRelays>['execute']>>[number]

/**
 * Changes relays and what they take of their accounts: all of it or nothing.
 *
 * First as they were read, which holds no lock for longer than a statement: an account under load would keep its
 * calls waiting. The database checks that nothing has changed meanwhile; only when something has, or a relay is to take
 * more than before, everything is read anew under locks.
 *
 * @param decide undefined leaves the relay as it is
 */
export async function changeRelays(
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
 * @returns undefined when a relay is to take more than before; nothing is changed then
 * @throws a serialisation failure when something has changed since it was read
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
    // Accounts before relays, as everywhere.
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
    let charged = wanted < reserved ? wanted : reserved
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

/** Where a relay was mined, as its row says. */
export function minedIn({ mined_hash, block_number, block_hash, gas_used }: RelayRow): MinedIn | null {
  if (mined_hash === null || block_hash === null) return null
  return {
    hash: mined_hash,
    blockNumber: Number(block_number),
    blockHash: block_hash,
    gasUsed: BigInt(gas_used ?? 0),
  }
}
