import { min } from '../../ethereum/bigint.ts'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import type { Queries, Database } from '../database/database.ts'
import type { Quotas } from '../relay-services.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'
import {
  whenOpened,
  type Plan,
  type Plans,
  accountNow,
  availableIn,
  openAccount,
  planOf,
  type Account,
} from '../quotas/plans.ts'
import { transactionGas } from '../../ethereum/transaction.ts'
import { readAccounts, type Registration, assertNotSlowed, assertServed, quotaExceeded } from './accounts.ts'
import { budgetExhausted, budgetsFor, leftOf, type UnregisteredLimits } from './budgets.ts'
import type { LedgerMemory } from './commit.ts'

/** What a call may take, as far as the ledger knows before the call is simulated. */
export interface Admission {
  /** The highest gas limit of its transaction. */
  readonly gasCap: bigint
  /** Why that is less than the plan allows; absent: it is not less. */
  readonly shortage?: ServiceError
  /** The hash of the code that the key manager runs, or `UNKNOWN_CODE`; null: the profile is registered. */
  readonly code: string | null
}

interface AdmissionOptions {
  readonly db: Queries
  readonly memory: LedgerMemory
  readonly plans: Plans
  readonly registration: Registration
  readonly unregistered: UnregisteredLimits
  /** The highest gas limit of any relay call. */
  readonly gasCap: bigint
  readonly clock: Clock
  /** The most that gas costs now, in wei. */
  readonly gasPriceWei: () => Promise<bigint>
  /** The same as it was some time ago, without asking the node; undefined: it is not known. */
  readonly recentGasPriceWei: () => bigint | undefined
  readonly codeOf: (keyManager: string) => Promise<string>
}

/** The most profiles in one look into the ledger. */
const MAX_TOGETHER = 256

/** Reads the accounts of many profiles by one statement; undefined: the ledger has none. */
const accountReader = (db: Queries) =>
  microBatch(
    async (profiles: readonly string[]) => {
      const accounts = await readAccounts(db, profiles)
      return profiles.map((profile) => accounts.get(profile))
    },
    { maxItems: MAX_TOGETHER },
  )

/**
 * Asks the ledger whether a call can be paid for, before the node simulates the call: a call that nobody can pay for must
 * cost the node nothing. The memory of this process, and a price that may be old, are believed as long as they say that
 * the account has enough; the ledger checks the account again when the call is stored, at the price of then.
 *
 * @returns a function that throws ServiceError PROFILE_NOT_REGISTERED, QUOTA_EXCEEDED, RATE_LIMITED
 */
export function createAdmission(options: AdmissionOptions): (call: RelayCall) => Promise<Admission> {
  const { db, memory, plans, registration, unregistered, clock, codeOf } = options
  const read = accountReader(db)

  async function judge(
    call: RelayCall,
    stored: Account | undefined,
    gasPriceWei: AdmissionOptions['gasPriceWei'],
  ): Promise<Admission> {
    const nowSeconds = Math.floor(clock.nowMs() / 1000)
    assertServed(call.profile, stored, registration)
    const account = accountNow(
      stored ?? openAccount(call.profile, plans.defaultPlan, false, nowSeconds),
      plans,
      nowSeconds,
    )
    assertNotSlowed(account, nowSeconds)
    const plan = planOf(account, plans)
    const maxFeePerGasWei = await gasPriceWei()
    const allowed = min(plan.gasCap ?? options.gasCap, options.gasCap)
    const affordable = affordableGas(plan, availableIn(account), maxFeePerGasWei, allowed)
    const code = account.registered ? null : await codeOf(call.keyManager)
    const budgets = code === null ? [] : budgetsFor(code, unregistered, memory.budgets, nowSeconds)
    const left = budgets.length === 0 ? allowed : leftOf(budgets)
    const gasCap = min(affordable, left)
    if (gasCap >= allowed) return { gasCap: allowed, code }
    const leastGas = transactionGas(call.callData, 0n)
    const wanted = gasCap < leastGas ? leastGas : gasCap + 1n
    const shortage =
      left < affordable
        ? budgetExhausted(budgets, wanted, nowSeconds)
        : quotaExceeded(account, plans, plan.reserve({ gasLimit: wanted, maxFeePerGasWei }), nowSeconds)
    if (gasCap < leastGas) throw shortage
    return { gasCap, code, shortage }
  }

  async function admit(call: RelayCall): Promise<Admission> {
    const recentGasPriceWei = options.recentGasPriceWei()
    const atRecentPrice = (account: Account | undefined) =>
      recentGasPriceWei === undefined ? undefined : unlessShort(judge(call, account, async () => recentGasPriceWei))
    const remembered = memory.accounts([call.profile])?.get(call.profile)
    const soon = remembered && (await atRecentPrice(remembered))
    if (soon) return soon
    const stored = await read(call.profile)
    return (await atRecentPrice(stored)) ?? judge(call, stored, options.gasPriceWei)
  }

  return (call) => whenOpened(() => admit(call))
}

/** @returns undefined where the call is refused, or may take less than the plan allows */
async function unlessShort(judging: Promise<Admission>): Promise<Admission | undefined> {
  try {
    const admission = await judging
    return admission.shortage ? undefined : admission
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

/**
 * The most gas, up to a cap, that an account can pay for. A model says what an amount of gas costs, and not how much gas an
 * amount buys, so the answer is searched for.
 */
function affordableGas(plan: Plan, available: bigint, maxFeePerGasWei: bigint, cap: bigint): bigint {
  const isEnoughFor = (gasLimit: bigint) => plan.reserve({ gasLimit, maxFeePerGasWei }) <= available
  if (isEnoughFor(cap)) return cap
  let [enough, tooMuch] = [0n, cap]
  while (tooMuch - enough > 1n) {
    const middle = (enough + tooMuch) / 2n
    if (isEnoughFor(middle)) enough = middle
    else tooMuch = middle
  }
  return enough
}

interface QuotasOptions {
  readonly database: Database
  readonly plans: Plans
  readonly registration: Registration
  readonly clock: Clock
}

export function createQuotas({ database, plans, registration, clock }: QuotasOptions): Quotas {
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000)
  const read = accountReader(database.db)
  return {
    remaining: async (profile) => {
      const account: Account | undefined = await read(profile)
      assertServed(profile, account, registration)
      // Under open registration an account opens with its first relay. Until then the whole allowance is left.
      const now = await whenOpened(() =>
        account
          ? accountNow(account, plans, nowSeconds())
          : openAccount(profile, plans.defaultPlan, false, nowSeconds()),
      )
      return planOf(now, plans).remaining(now)
    },
  }
}
