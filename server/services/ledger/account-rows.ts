import { sql, type QueryCreator, type Selectable } from 'kysely'
import { anyOf, type ProfilesTable, type Tables } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import { accountNow, openAccount, type Account, availableIn, planOf, type Plans } from '../quotas/plans.ts'
import { ServiceError, OperatorError } from '../../core/errors.ts'

/** Whom the service relays for. */
export type Registration = 'open' | 'registered'

/** Reads accounts as they are stored. A period that is due has not begun: see `accountNow`. */
export async function readAccounts(db: Queries, profiles: readonly string[]): Promise<Map<string, Account>> {
  if (profiles.length === 0) return new Map()
  const rows = await db
    .selectFrom('profiles')
    .selectAll()
    .where('address', '=', anyOf([...new Set(profiles)]))
    .execute()
  return new Map(rows.map((row) => [row.address, toAccount(row)]))
}

/** Locks accounts for the length of the transaction, as they are stored. */
export async function lockStoredAccounts(db: Queries, profiles: readonly string[]): Promise<Map<string, Account>> {
  const wanted = [...new Set(profiles)].sort()
  if (wanted.length === 0) return new Map()
  const rows = await db
    .selectFrom('profiles')
    .selectAll()
    .where('address', '=', anyOf(wanted))
    .orderBy('address')
    .forUpdate()
    .execute()
  return new Map(rows.map((row) => [row.address, toAccount(row)]))
}

/**
 * Locks accounts for the length of the transaction and brings them to where they stand now: a period that is due
 * begins. Under open registration those that are missing are opened. Always locked in the same order: two transactions
 * cannot wait for each other.
 *
 * @throws OpeningUnderWay
 */
export async function lockAccounts(
  db: Queries,
  profiles: readonly string[],
  { plans, registration, nowSeconds }: { plans: Plans; registration: Registration; nowSeconds: number },
): Promise<Map<string, Account>> {
  let stored = await lockStoredAccounts(db, profiles)
  const missing = [...new Set(profiles)].filter((address) => !stored.has(address)).sort()
  if (registration === 'open' && missing.length > 0) {
    const opened = missing.map((address) => toRow(openAccount(address, plans.defaultPlan, false, nowSeconds)))
    await db
      .insertInto('profiles')
      .values(opened)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    stored = await lockStoredAccounts(db, profiles)
  }
  const accounts = [...stored.values()].map((account) => accountNow(account, plans, nowSeconds))
  const renewed = accounts.filter((account) => account !== stored.get(account.profile))
  if (renewed.length > 0) await saveAccounts(db, renewed).execute()
  return new Map(accounts.map((account) => [account.profile, account]))
}

/** A statement that stores accounts that are locked: their quota, period and plan. */
export function saveAccounts(db: QueryCreator<Tables>, accounts: readonly Account[]) {
  const column = <Value>(value: (account: Account) => Value) => accounts.map(value)
  const changed = sql<ProfilesTable>`unnest(
    ${column(({ profile }) => profile)}::text[],
    ${column(({ plan }) => plan)}::text[],
    ${column(({ allowance }) => String(allowance))}::numeric[],
    ${column(({ used }) => String(used))}::numeric[],
    ${column(({ resetAtSeconds }) => (resetAtSeconds === null ? null : String(resetAtSeconds)))}::bigint[],
    ${column(({ period }) => period)}::integer[])`
  return db
    .updateTable('profiles')
    .from(changed.as<'changed'>(sql`changed(address, plan, allowance, used, reset_at, period)`))
    .set((row) => ({
      plan: row.ref('changed.plan'),
      allowance: row.ref('changed.allowance'),
      used: row.ref('changed.used'),
      reset_at: row.ref('changed.reset_at'),
      period: row.ref('changed.period'),
    }))
    .whereRef('profiles.address', '=', 'changed.address')
}

export function toAccount(row: Selectable<ProfilesTable>): Account {
  return {
    profile: row.address,
    registered: row.registered,
    suspended: row.suspended,
    plan: row.plan,
    allowance: BigInt(row.allowance),
    used: BigInt(row.used),
    resetAtSeconds: row.reset_at === null ? null : BigInt(row.reset_at),
    period: row.period,
    slowedUntil: Number(row.slowed_until),
  }
}

export function toRow({ profile, resetAtSeconds, allowance, used, slowedUntil, ...rest }: Account) {
  return {
    ...rest,
    address: profile,
    allowance: String(allowance),
    used: String(used),
    reset_at: resetAtSeconds === null ? null : Number(resetAtSeconds),
    slowed_until: slowedUntil,
  }
}

/** @throws ServiceError PROFILE_NOT_REGISTERED */
export function assertServed(profile: string, account: Account | undefined, registration: Registration): void {
  if (account?.suspended) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is suspended`)
  if (registration === 'registered' && account?.registered !== true) {
    throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is not registered with this service`)
  }
}

/** @throws ServiceError RATE_LIMITED */
export function assertNotSlowed({ profile, slowedUntil }: Account, nowSeconds: number): void {
  if (slowedUntil <= nowSeconds) return
  const reason = `calls of ${profile} reverted though they had passed the simulation`
  throw new ServiceError('RATE_LIMITED', reason, { retryAfterSeconds: slowedUntil - nowSeconds })
}

export function quotaExceeded(account: Account, plans: Plans, wanted: bigint, nowSeconds: number): ServiceError {
  const { unit } = planOf(account, plans)
  const available = availableIn(account)
  return new ServiceError('QUOTA_EXCEEDED', `${wanted} ${unitName[unit]} needed, ${available} left`, {
    details: { unit, needed: String(wanted), available: String(available) },
    ...(account.resetAtSeconds === null
      ? {}
      : { retryAfterSeconds: Number(account.resetAtSeconds - BigInt(nowSeconds)) }),
  })
}

const unitName = { gas: 'gas', lyx: 'wei', transactionCount: 'transactions' } as const

/** Profiles in a plan that the configuration has no more could be neither charged nor told what they have. */
export async function assertPlansKnown(db: Queries, plans: Plans): Promise<void> {
  const rows = await db.selectFrom('profiles').select('plan').distinct().execute()
  const unknown = rows.map(({ plan }) => plan).filter((plan) => !plans.byName.has(plan))
  if (unknown.length > 0) {
    throw new OperatorError(
      `database: profiles are in plans that the configuration lacks: ${unknown.join(', ')}: add them, or move the profiles`,
    )
  }
}
