import type { Plans, Plan } from './plans.ts'

/** A profile's row in the ledger: what the operator decided about it, and its quota account. */
export interface Account {
  readonly profile: string
  readonly registered: boolean
  readonly suspended: boolean
  readonly plan: string
  readonly allowance: bigint
  /** The amount used in this period, reservations included. Never more than the allowance. */
  readonly used: bigint
  readonly resetAtSeconds: bigint | null
  readonly period: number
  /**
   * Unix seconds. Until then no call of the profile is accepted, because others passed the simulation and reverted in their
   * block.
   */
  readonly slowedUntil: number
}

/** Opens a new account. @throws OpeningUnderWay */
export function openAccount(profile: string, plan: Plan, registered: boolean, nowSeconds: number): Account {
  const { allowance, resetAtSeconds } = plan.open(nowSeconds, profile)
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

/** @returns the account as it stands now: with a new period when the reset is due. @throws OpeningUnderWay */
export function accountNow(account: Account, plans: Plans, nowSeconds: number): Account {
  if (account.resetAtSeconds === null || BigInt(nowSeconds) < account.resetAtSeconds) return account
  return nextPeriod(account, planOf(account, plans), nowSeconds)
}

/**
 * Begins a new period, in which nothing is used. Calls that reserved in an earlier period are not charged in this one.
 */
export function nextPeriod(account: Account, plan: Plan, nowSeconds: number): Account {
  return {
    ...account,
    ...plan.open(nowSeconds, account.profile),
    plan: plan.name,
    used: 0n,
    period: account.period + 1,
  }
}

/**
 * Changes the amount that one relay takes of the account. It takes at most what is available.
 *
 * @param from the amount that it has taken so far in this period
 * @returns the account, and the amount that the relay takes now
 */
export function moveReservation(account: Account, from: bigint, to: bigint): { account: Account; taken: bigint } {
  const available = account.allowance - account.used
  const taken = to - from <= available ? to : from + (available > 0n ? available : 0n)
  return { account: { ...account, used: account.used + taken - from }, taken }
}

/** The amount that is left. */
export function availableIn({ allowance, used }: Account): bigint {
  return allowance > used ? allowance - used : 0n
}

/** The plan of an account. At its start the server has checked that the configuration has every plan of the ledger. */
export function planOf(account: Pick<Account, 'plan'>, plans: Plans): Plan {
  return plans.byName.get(account.plan) ?? plans.defaultPlan
}
