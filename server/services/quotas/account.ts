import type { Plans, Plan } from './plans.ts'

/** A profile's row in the ledger: what the operator decided about it, and its quota account. */
export interface Account {
  readonly profile: string
  readonly registered: boolean
  readonly suspended: boolean
  readonly plan: string
  readonly allowance: bigint
  /** In this period, reservations included; never more than the allowance. */
  readonly used: bigint
  readonly resetAtSeconds: bigint | null
  readonly period: number
  /** Unix seconds: nothing is taken before, since calls of the profile reverted that had passed the simulation. */
  readonly slowedUntil: number
}

/** A new account, opened now. */
export function openAccount(profile: string, plan: Plan, registered: boolean, nowSeconds: number): Account {
  const { allowance, resetAtSeconds } = plan.open(nowSeconds)
  return {
    profile,
    registered,
    suspended: false,
    plan: plan.name,
    allowance,
    used: 0n,
    resetAtSeconds,
    period: 0,
    slowedUntil: 0,
  }
}

/** The account as it stands now: a new period begins when its reset is due. */
export function accountNow(account: Account, plans: Plans, nowSeconds: number): Account {
  if (account.resetAtSeconds === null || BigInt(nowSeconds) < account.resetAtSeconds) return account
  return nextPeriod(account, planOf(account, plans), nowSeconds)
}

/** Begins a new period: nothing is used, and what was reserved before is settled against none. */
export function nextPeriod(account: Account, plan: Plan, nowSeconds: number): Account {
  return { ...account, ...plan.open(nowSeconds), plan: plan.name, used: 0n, period: account.period + 1 }
}

/**
 * Changes what one relay takes of the account, as far as the account allows: a part that is not available is not taken.
 *
 * @param from what it took so far, of this period
 * @returns the account, and what it takes now
 */
export function moveReservation(account: Account, from: bigint, to: bigint): { account: Account; taken: bigint } {
  const available = account.allowance - account.used
  const taken = to - from <= available ? to : from + (available > 0n ? available : 0n)
  return { account: { ...account, used: account.used + taken - from }, taken }
}

/** What is left. */
export function availableIn({ allowance, used }: Account): bigint {
  return allowance > used ? allowance - used : 0n
}

/** The plan of an account. The start has checked that the configuration has every plan that the ledger names. */
export function planOf(account: Pick<Account, 'plan'>, plans: Plans): Plan {
  return plans.byName.get(account.plan) ?? plans.defaultPlan
}
