import type { Quota } from '../../core/define.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { readAccounts, type Registration, assertServed } from './account-rows.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'
import { accountNow, openAccount, planOf, type Account } from '../quotas/account.ts'
import { whenOpened } from '../quotas/openings.ts'
import type { Plans } from '../quotas/plans.ts'

/** What profiles may still spend. */
export interface Quotas {
  /** @throws ServiceError PROFILE_NOT_REGISTERED; UPSTREAM_UNAVAILABLE a quota model does not answer */
  remaining(profile: string): Promise<Quota>
}

declare module '../../core/define.ts' {
  interface Services {
    quotas: Quotas
  }
}

export interface QuotasOptions {
  readonly database: Database
  readonly plans: Plans
  readonly registration: Registration
  readonly clock: Clock
}

/** The most profiles in one look into the ledger. */
const MAX_TOGETHER = 256

export function createQuotas({ database, plans, registration, clock }: QuotasOptions): Quotas {
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000)
  const read = microBatch(
    async (profiles: readonly string[]) => {
      const accounts = await readAccounts(database.db, profiles)
      return profiles.map((profile) => accounts.get(profile))
    },
    { maxItems: MAX_TOGETHER },
  )
  return {
    remaining: async (profile) => {
      const account: Account | undefined = await read(profile)
      assertServed(profile, account, registration)
      // Under open registration an account opens with its first relay; until then all is left.
      const now = await whenOpened(() =>
        account
          ? accountNow(account, plans, nowSeconds())
          : openAccount(profile, plans.defaultPlan, false, nowSeconds()),
      )
      return planOf(now, plans).remaining(now)
    },
  }
}
