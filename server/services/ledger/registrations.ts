import { getAddress } from 'ethers'
import { OperatorError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import type { Queries } from '../database/database.ts'
import { lockAccounts, readAccounts, saveAccounts, toAccount, toRow } from './account-rows.ts'
import {
  accountNow,
  nextPeriod,
  openAccount,
  type Account,
  whenOpened,
  type Plan,
  type Plans,
} from '../quotas/plans.ts'

/** What an operator decides about profiles. */
export interface Registrations {
  list(): Promise<Account[]>
  /** @throws OperatorError the profile is not known */
  show(address: string): Promise<Account>
  /**
   * Registers a profile, or lets one that was removed or suspended back in. A profile that is there keeps its account
   * unless it gets another plan.
   *
   * @throws OperatorError there is no such plan
   */
  add(address: string, plan?: string): Promise<Account>
  /** Takes nothing more from it, until `add`. Its account stays. */
  remove(address: string): Promise<Account>
  suspend(address: string): Promise<Account>
  resume(address: string): Promise<Account>
  /** Adds to what it may use: of this period, or, for pay-as-you-go, until it is used up. */
  topUp(address: string, amount: bigint): Promise<Account>
  /** Begins anew under another plan; what is under way is settled with the old one. */
  move(address: string, plan: string): Promise<Account>
}

const UINT256_END = 1n << 256n

export function createRegistrations({
  db,
  plans,
  clock,
}: {
  readonly db: Queries
  readonly plans: Plans
  readonly clock: Clock
}): Registrations {
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000)

  const planNamed = (name: string) => planIn(plans, name)

  /** Changes an account that is locked. */
  async function change(anyCase: string, decide: (account: Account) => Account): Promise<Account> {
    const address = profileAddress(anyCase)
    return whenOpened(() =>
      db.transaction().execute(async (transaction) => {
        const options = { plans, registration: 'registered', nowSeconds: nowSeconds() } as const
        const account = (await lockAccounts(transaction, [address], options)).get(address)
        if (!account) throw notKnown(address)
        const changed = decide(account)
        await saveAccounts(transaction, [changed]).execute()
        const { registered, suspended } = changed
        await transaction
          .updateTable('profiles')
          .set({ registered, suspended })
          .where('address', '=', address)
          .execute()
        return changed
      }),
    )
  }

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

/** @throws OperatorError there is no such plan */
function planIn({ byName }: Plans, name: string): Plan {
  const plan = byName.get(name)
  if (plan) return plan
  throw new OperatorError(`there is no plan '${name}'; there are ${[...byName.keys()].join(', ')}`)
}

/** @throws OperatorError for what is no address, or one whose checksum tells of a slip */
function profileAddress(text: string): string {
  try {
    return getAddress(text)
  } catch {
    throw new OperatorError(`'${text}' is no address, or its letter case is not that of its checksum`)
  }
}

const notKnown = (address: string) => new OperatorError(`${address} is not known: add it first`)
