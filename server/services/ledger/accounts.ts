import { sql, type QueryCreator, type Selectable } from 'kysely'
import { getAddress } from 'ethers'
import { insteadOf } from '../../../specs/index.ts'
import { anyOf, type ProfilesTable, type Tables } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import {
  accountNow,
  openAccount,
  type Account,
  availableIn,
  planOf,
  type Plans,
  nextPeriod,
  whenOpened,
  type Plan,
} from '../quotas/plans.ts'
import { OperatorError, ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'

/** Whom the service relays for. */
export type Registration = 'open' | 'registered'

/** Reads accounts as they are stored. A period that is due is not begun here: see `accountNow`. */
export async function readAccounts(db: Queries, profiles: readonly string[]): Promise<Map<string, Account>> {
  if (profiles.length === 0) return new Map()
  const rows = await db
    .selectFrom('profiles')
    .selectAll()
    .where('address', '=', anyOf([...new Set(profiles)]))
    .execute()
  return new Map(rows.map((row) => [row.address, toAccount(row)]))
}

/** Locks accounts until the database transaction ends, and reads them as they are stored. */
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
 * Locks accounts until the database transaction ends, and begins periods that are due. Under open registration, accounts that
 * are missing are opened. Accounts are always locked in the order of their addresses, so that no two transactions wait for
 * each other.
 *
 * @throws OpeningUnderWay a quota model has to be waited for
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

/** A statement that stores quota, period and plan of accounts that are locked. */
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

/** Prefix of the rows in `facts` that tell the unit of each plan, in which the amounts of its accounts are stored. */
const UNIT_FACT = 'unit of the plan '

/**
 * A profile whose plan is no longer in the configuration could be neither charged nor told what it has left. Nor could one
 * whose plan counts in another unit now: its millions of gas would be millions of transactions.
 *
 * @throws OperatorError there are such profiles
 */
export async function assertPlansKnown(db: Queries, plans: Plans): Promise<void> {
  const [rows, facts] = await Promise.all([
    db.selectFrom('profiles').select('plan').distinct().execute(),
    db.selectFrom('facts').select(['name', 'value']).where('name', 'like', `${UNIT_FACT}%`).execute(),
  ])
  const unknown = rows.map(({ plan }) => plan).filter((plan) => !plans.byName.has(plan))
  if (unknown.length > 0) {
    throw new OperatorError(
      `database: profiles are in plans that the configuration lacks: ${unknown.join(', ')}: add them, or move the profiles`,
    )
  }
  const units = new Map(facts.map(({ name, value }) => [name.slice(UNIT_FACT.length), value]))
  for (const { plan } of rows) {
    const [before, now] = [units.get(plan), plans.byName.get(plan)?.unit]
    if (before === undefined || before === now) continue
    throw new OperatorError(
      `database: the accounts of the plan ${plan} are in ${before}, and the configuration makes it ${now}: give the plan another name`,
    )
  }
  await db
    .insertInto('facts')
    .values([...plans.byName].map(([name, { unit }]) => ({ name: `${UNIT_FACT}${name}`, value: unit })))
    .onConflict((conflict) => conflict.column('name').doUpdateSet(({ ref }) => ({ value: ref('excluded.value') })))
    .execute()
}

/** What an operator decides about profiles (`profiles`, the command). */
export interface Registrations {
  list(): Promise<Account[]>
  /** @throws OperatorError the profile is not known */
  show(address: string): Promise<Account>
  /**
   * Registers a profile, also one that was removed or suspended. A profile that has an account keeps it, unless it gets
   * another plan.
   *
   * @throws OperatorError there is no such plan
   */
  add(address: string, plan?: string): Promise<Account>
  /** The profile's calls are refused until `add`. Its account stays. */
  remove(address: string): Promise<Account>
  suspend(address: string): Promise<Account>
  resume(address: string): Promise<Account>
  /** Adds to the allowance: of this period; for pay-as-you-go, until it is used up. */
  topUp(address: string, amount: bigint): Promise<Account>
  /** The profile gets a new account under another plan. Calls under way are settled by the old plan. */
  move(address: string, plan: string): Promise<Account>
}

const UINT256_END = 1n << 256n

export interface RegistrationsOptions {
  readonly db: Queries
  readonly plans: Plans
  readonly clock: Clock
}

export function createRegistrations({ db, plans, clock }: RegistrationsOptions): Registrations {
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000)

  const planNamed = (name: string) => planIn(plans, name)

  const change = (anyCase: string, decide: (account: Account) => Account) =>
    changeAccount(db, anyCase, { plans, nowSeconds: nowSeconds() }, decide)

  const moveTo = (account: Account, plan: Plan): Account =>
    plan.name === account.plan ? account : nextPeriod(account, plan, nowSeconds())

  return {
    list: async () => {
      const rows = await db.selectFrom('profiles').selectAll().orderBy('address').execute()
      return Promise.all(rows.map((row) => whenOpened(() => accountNow(toAccount(row), plans, nowSeconds()))))
    },
    show: async (anyCase) => {
      const address = profileAddress(anyCase)
      const account = (await readAccounts(db, [address])).get(address)
      if (!account) throw notKnown(address)
      return whenOpened(() => accountNow(account, plans, nowSeconds()))
    },
    add: async (anyCase, planName) => {
      const address = profileAddress(anyCase)
      const plan = planName === undefined ? undefined : planNamed(planName)
      const opened = await whenOpened(() => openAccount(address, plan ?? plans.defaultPlan, true, nowSeconds()))
      await db
        .insertInto('profiles')
        .values(toRow(opened))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return change(address, (account) => ({
        ...(plan ? moveTo(account, plan) : account),
        registered: true,
        suspended: false,
      }))
    },
    remove: (address) => change(address, (account) => ({ ...account, registered: false })),
    suspend: (address) => change(address, (account) => ({ ...account, suspended: true })),
    resume: (address) => change(address, (account) => ({ ...account, suspended: false })),
    topUp: (address, amount) =>
      change(address, (account) => {
        const allowance = account.allowance + amount
        if (allowance >= UINT256_END) throw new OperatorError('the account cannot hold so much')
        return { ...account, allowance }
      }),
    move: async (address, name) => {
      const plan = planNamed(name)
      return change(address, (account) => moveTo(account, plan))
    },
  }
}

/**
 * Locks an account, changes it and stores it.
 *
 * @throws OperatorError the profile is not known
 */
async function changeAccount(
  db: Queries,
  anyCase: string,
  now: { readonly plans: Plans; readonly nowSeconds: number },
  decide: (account: Account) => Account,
): Promise<Account> {
  const address = profileAddress(anyCase)
  return whenOpened(() =>
    db.transaction().execute(async (transaction) => {
      const account = (await lockAccounts(transaction, [address], { ...now, registration: 'registered' })).get(address)
      if (!account) throw notKnown(address)
      const changed = decide(account)
      await saveAccounts(transaction, [changed]).execute()
      const { registered, suspended } = changed
      await transaction.updateTable('profiles').set({ registered, suspended }).where('address', '=', address).execute()
      return changed
    }),
  )
}

/** @throws OperatorError there is no such plan */
function planIn({ byName }: Plans, name: string): Plan {
  const plan = byName.get(name)
  if (plan) return plan
  throw new OperatorError(`there is no plan '${name}'${insteadOf(name, [...byName.keys()])}`)
}

/** @throws OperatorError the text is no address, or its checksum is wrong */
function profileAddress(text: string): string {
  try {
    return getAddress(text)
  } catch {
    throw new OperatorError(`'${text}' is no address, or its letter case is not that of its checksum`)
  }
}

const notKnown = (address: string) => new OperatorError(`${address} is not known: add it first`)
