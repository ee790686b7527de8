import type { OpenedAccount, QuotaAccount, QuotaPlugin, Quota, Services } from '../../core/define.ts'
import { ConfigError } from '../../config/config-error.ts'
import { servicesFor, type LoadedQuota } from '../../core/registry.ts'
import { createOpenings, inTime } from './openings.ts'

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

export interface PlansConfig {
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
    if (loaded === undefined) throw planError(name, `there is no quota model '${model}'`)
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
