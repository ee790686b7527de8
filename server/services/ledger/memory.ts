import type { Account } from '../quotas/account.ts'
import type { BudgetUse } from './budgets.ts'
import type { Draft } from './draft.ts'

/**
 * What this process saw last of signers and accounts. Others change them meanwhile, so nothing is decided by it that the
 * database does not check.
 */
export interface LedgerMemory {
  /** Next nonces by signer; undefined when one of them is not remembered. */
  nonces(signers: readonly string[]): Map<string, number> | undefined
  /** Accounts by profile; undefined when one of them is not remembered. */
  accounts(profiles: readonly string[]): Map<string, Account> | undefined
  /** What was used of budgets; those that are missing are not remembered. */
  readonly budgets: BudgetUse
  /** Remembers how things stand when a draft is stored. */
  keep(draft: Pick<Draft, 'nextNonces' | 'accounts' | 'budgetUse'>): void
}

/** The most accounts; the one that was kept longest ago goes first. */
const MAX_ACCOUNTS = 10_000

export function createLedgerMemory(): LedgerMemory {
  const nonces = new Map<string, number>()
  const accounts = new Map<string, Account>()
  // Two for each known code: few.
  const budgets = new Map<string, { readonly startsAt: number; readonly used: bigint }>()
  return {
    nonces: (signers) => pick(nonces, signers),
    accounts: (profiles) => pick(accounts, profiles),
    budgets,
    keep: (draft) => {
      for (const [signer, nonce] of draft.nextNonces) nonces.set(signer, nonce)
      for (const [scope, use] of draft.budgetUse) budgets.set(scope, use)
      for (const [profile, account] of draft.accounts) {
        accounts.delete(profile)
        accounts.set(profile, account)
      }
      for (const profile of accounts.keys()) {
        if (accounts.size <= MAX_ACCOUNTS) break
        accounts.delete(profile)
      }
    },
  }
}

function pick<Value>(all: ReadonlyMap<string, Value>, keys: readonly string[]): Map<string, Value> | undefined {
  const picked = new Map<string, Value>()
  for (const key of keys) {
    const value = all.get(key)
    if (value === undefined) return undefined
    picked.set(key, value)
  }
  return picked
}
