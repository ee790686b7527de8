import { ZeroAddress } from 'ethers'
import { insteadOf } from '../../../specs/index.ts'
import type { OpenedAccount, QuotaAccount, QuotaPlugin, Quota, Services } from '../../core/define.ts'
import { ConfigError, ServiceError } from '../../core/errors.ts'
import { servicesFor, type LoadedQuota } from '../../core/registry.ts'
import { min } from '../../ethereum/bigint.ts'
import { withinTime } from '../../concurrency/within-time.ts'

/** A quota model with the options of one plan. Amounts are exact, in the unit of the model. */
export interface Plan {
  readonly name: string
  readonly model: string
  readonly unit: Quota['unit']
  /** The most gas of one relay call; null: the limit for all calls applies. */
  readonly gasCap: bigint | null
  /** Whether profiles may get different allowances: the model reads the profile, or asks somebody. */
  readonly isByProfile: boolean
  /**
   * Gives the allowance and the next reset of an account that opens now, or begins a new period.
   *
   * @throws OpeningUnderWay the model has to be waited for
   */
  open(nowSeconds: number, profile: string): OpenedAccount
  /** What `POST /quota` answers. @throws ServiceError UPSTREAM_UNAVAILABLE the model fails, or takes too long */
  remaining(account: QuotaAccount): Quota | Promise<Quota>
  /** @returns the most that a transaction can be charged */
  reserve(limits: Parameters<QuotaPlugin['reserve']>[0]): bigint
  /** @returns the charge for a mined transaction */
  settle(receipt: Parameters<QuotaPlugin['settle']>[0]): bigint
}

export interface Plans {
  /** The plan of profiles for which the operator has chosen none. */
  readonly defaultPlan: Plan
  readonly byName: ReadonlyMap<string, Plan>
}

interface PlansConfig {
  readonly defaultPlan: string
  readonly plans: Readonly<
    Record<string, { readonly model: string; readonly options: unknown; readonly gasCap?: number }>
  >
}

/**
 * Binds each plan of the configuration to its model.
 *
 * @param services that models may need
 * @throws ConfigError a model that is not loaded, options that break its schema
 */
export function createPlans(
  { defaultPlan, plans }: PlansConfig,
  models: ReadonlyMap<string, LoadedQuota>,
  services: Partial<Services>,
): Plans {
  const byName = new Map<string, Plan>()
  for (const [name, { model, options, gasCap }] of Object.entries(plans)) {
    const loaded = models.get(model)
    if (loaded === undefined)
      throw planError(name, `there is no quota model '${model}'${insteadOf(model, [...models.keys()])}`)
    byName.set(name, bindPlan(name, loaded, { options, gasCap }, services))
  }
  const found = byName.get(defaultPlan)
  if (found === undefined) throw planError(defaultPlan, 'the default plan is not among the plans')
  return { defaultPlan: found, byName }
}

/** Gas cap of a call that is charged by count: the charge does not depend on the gas, so the plan has to bound it. */
const COUNTED_GAS_CAP = 1_000_000n

function bindPlan(
  name: string,
  loaded: LoadedQuota,
  { options: rawOptions, gasCap }: { readonly options: unknown; readonly gasCap: number | undefined },
  services: Partial<Services>,
): Plan {
  const { plugin } = loaded
  let options: unknown
  try {
    options = loaded.parseOptions(rawOptions)
  } catch (cause) {
    throw planError(name, cause instanceof Error ? cause.message : String(cause), { cause })
  }
  const picked = servicesFor(loaded, services as Services)
  const opened = createOpenings(plugin.id)
  return {
    name,
    model: plugin.id,
    unit: plugin.unit,
    gasCap: gasCap !== undefined ? BigInt(gasCap) : plugin.unit === 'transactionCount' ? COUNTED_GAS_CAP : null,
    isByProfile: plugin.open.length > 3 || plugin.open.constructor.name === 'AsyncFunction',
    open: (nowSeconds, profile) => opened(profile, () => plugin.open(nowSeconds, picked, options, profile)),
    remaining: (account) => {
      const quota = plugin.remaining(account, picked, options)
      return quota instanceof Promise ? inTime(plugin.id, quota) : quota
    },
    reserve: (limits) => plugin.reserve(limits, picked, options),
    settle: (receipt) => plugin.settle(receipt, picked, options),
  }
}

/** The error for a plan that cannot be used. Its reader wrote the configuration. */
const planError = (plan: string, reason: string, options?: ErrorOptions) =>
  new ConfigError([`quota/plans/${plan}: ${reason}`], options)

/** How long a model may take, for example to ask the chain, in milliseconds. */
const TIMEOUT_MS = 5_000
/** The answer of a model is used for this time, in milliseconds: from the admission of a call until it is stored. */
const VALID_MS = 30_000
/** The most answers that are kept. The oldest goes first. */
const MAX_KEPT = 10_000
const RETRY_SECONDS = 2

/**
 * Thrown where an account opens whose model has not answered yet. A database transaction must not wait for it with locked
 * rows, so it is rolled back and begins again when the answer is there: see {@link whenOpened}.
 */
export class OpeningUnderWay extends Error {
  /** Rejects with ServiceError UPSTREAM_UNAVAILABLE when the model fails or takes too long. */
  readonly opened: Promise<unknown>

  constructor(opened: Promise<unknown>) {
    super('a quota model has not answered yet')
    this.opened = opened
    // A caller that only looked for the answer does not wait for it, and nobody else would handle the rejection.
    opened.catch(() => {})
  }
}

/**
 * Does work in which accounts may open, and begins it again when a quota model had to be waited for.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE a model fails, or takes too long; what the work throws
 */
export async function whenOpened<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OpeningUnderWay)) throw error
      await error.opened
    }
  }
}

/**
 * Waits for a quota model.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE it fails, or takes too long
 */
export async function inTime<Answer>(model: string, answer: Promise<Answer>, timeoutMs = TIMEOUT_MS): Promise<Answer> {
  try {
    return await withinTime(answer, performance.now() + timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`))
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('UPSTREAM_UNAVAILABLE', `the quota model '${model}' does not answer`, {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    })
  }
}

/**
 * Remembers what the asynchronous model of a plan answers, for work that is done again.
 *
 * @param model name of the quota model
 */
export function createOpenings(model: string) {
  const answers = new Map<string, { readonly opening: OpenedAccount; readonly untilMs: number }>()
  const underWay = new Map<string, Promise<OpenedAccount>>()

  async function ask(profile: string, answer: Promise<OpenedAccount>): Promise<OpenedAccount> {
    try {
      const opening = await inTime(model, answer)
      answers.delete(profile)
      answers.set(profile, { opening, untilMs: performance.now() + VALID_MS })
      for (const oldest of answers.keys()) {
        if (answers.size <= MAX_KEPT) break
        answers.delete(oldest)
      }
      return opening
    } finally {
      underWay.delete(profile)
    }
  }

  /**
   * @param open asks the model
   * @throws OpeningUnderWay the model has not answered yet
   */
  return (profile: string, open: () => OpenedAccount | Promise<OpenedAccount>): OpenedAccount => {
    const known = answers.get(profile)
    if (known && known.untilMs > performance.now()) return known.opening
    let waiting = underWay.get(profile)
    if (!waiting) {
      const answer = open()
      if (!(answer instanceof Promise)) return answer
      waiting = ask(profile, answer)
      underWay.set(profile, waiting)
    }
    throw new OpeningUnderWay(waiting)
  }
}

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
  if (account.resetAtSeconds === null) return account
  const plan = planOf(account, plans)
  if (BigInt(nowSeconds) >= account.resetAtSeconds) return nextPeriod(account, plan, nowSeconds)
  const resetAtSeconds = soonerReset(account.resetAtSeconds, plan, nowSeconds)
  return resetAtSeconds === null ? account : { ...account, resetAtSeconds }
}

/**
 * The reset of a period that would last beyond the next one: its end was stored by a clock that was ahead, or the operator has
 * shortened the plan's periods since. A clock that is ahead by seconds may have begun the next period already, so that one stays.
 *
 * @returns the end of the period that runs now by the plan; null when the stored reset stays
 */
function soonerReset(stored: bigint, plan: Plan, nowSeconds: number): bigint | null {
  // To ask for each call would make every one wait for such a model.
  if (plan.isByProfile) return null
  const { resetAtSeconds: end } = plan.open(nowSeconds, ZeroAddress)
  if (end === null || stored <= end) return null
  const { resetAtSeconds: nextEnd } = plan.open(Number(end), ZeroAddress)
  return nextEnd === null || nextEnd <= end || stored <= nextEnd ? null : end
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
  const taken = min(to, from + availableIn(account))
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
