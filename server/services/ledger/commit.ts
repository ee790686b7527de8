import { anyOf } from '../database/tables.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { DatabaseAwayError } from '../database/postgres-pool.ts'
import { retryOnConflict } from '../database/database-fault.ts'
import { accountNow, type Account } from '../quotas/account.ts'
import { whenOpened } from '../quotas/openings.ts'
import { lockAccounts } from './account-rows.ts'
import { budgetsFor, lockBudgets, UNKNOWN_CODE, type UnregisteredLimits } from './budgets.ts'
import { createDraft, type DraftOptions, nothingTaken, takenBy } from './draft.ts'
import type { Acceptance, Committed } from './acceptance.ts'
import type { LedgerMemory } from './memory.ts'
import { storeRelays, type Holders } from './store-relays.ts'

export interface CommitOptions extends Pick<
  DraftOptions,
  'chainId' | 'plans' | 'registration' | 'unregistered' | 'nowMs' | 'fees' | 'bundles'
> {
  /** What was seen last; kept up to date. */
  readonly memory: LedgerMemory
  /** Absent: no other process stores. */
  readonly holders?: Holders | undefined
}

/**
 * Reserves the quota, takes the accounts' next nonces and stores the signed transactions, all in one database
 * transaction and before anything is sent.
 *
 * First as if nothing had changed since the last look, which takes one statement. The database checks that, and only
 * when it is not so, or when a call would be refused, everything is read anew under locks. That a call or its nonce is
 * taken already is rare: the unique indexes tell, and only then it is looked up which.
 *
 * @param acceptances those of one channel in nonce order
 * @returns one outcome for each; the nonces of an account rise in their order
 * @throws NotHeldError; ServiceError, with `broadcast` when the connection broke and it may be stored all the same
 */
export async function commit(
  db: Queries,
  acceptances: readonly Acceptance[],
  options: CommitOptions,
): Promise<Committed[]> {
  try {
    return await whenOpened(() =>
      retryOnConflict(
        async (tries) =>
          (tries === 1 ? await commitFromMemory(db, acceptances, options) : undefined) ??
          (await commitUnderLocks(db, acceptances, options, tries > 1)),
      ),
    )
  } catch (error) {
    if (!(error instanceof DatabaseAwayError) || !error.isUnknown) throw error
    throw new ServiceError(error.code, 'the database went away while the call was being stored: ask with it again', {
      cause: error,
      broadcast: true,
      retryAfterSeconds: error.retryAfterSeconds ?? 1,
    })
  }
}

/** @returns undefined when too little is remembered, or it is no longer so: nothing is stored then */
async function commitFromMemory(
  db: Queries,
  acceptances: readonly Acceptance[],
  { memory, holders, ...options }: CommitOptions,
): Promise<Committed[] | undefined> {
  const nowSeconds = Math.floor(options.nowMs / 1000)
  const nonces = memory.nonces(acceptances.map(({ signer }) => signer.address))
  const accounts = memory.accounts(acceptances.map(({ call }) => call.profile))
  if (!nonces || !accounts) return undefined
  for (const account of accounts.values()) {
    if (accountNow(account, options.plans, nowSeconds) !== account) return undefined
  }
  const budgets = memory.budgets
  const draft = createDraft({ ...options, nonces, accounts, budgets, taken: nothingTaken() }, acceptances)
  // Perhaps there is more to be had by now.
  if (draft.outcomes.some(({ kind }) => kind !== 'stored')) return undefined
  if (!(await storeRelays(db, draft, nowSeconds, holders))) return undefined
  memory.keep(draft)
  return [...draft.outcomes]
}

async function commitUnderLocks(
  db: Queries,
  acceptances: readonly Acceptance[],
  { memory, holders, ...options }: CommitOptions,
  isSuspicious: boolean,
): Promise<Committed[]> {
  const nowSeconds = Math.floor(options.nowMs / 1000)
  const profiles = acceptances.map(({ call }) => call.profile)
  const signers = acceptances.map(({ signer }) => signer.address)
  const draft = await db.transaction().execute(async (transaction) => {
    // Signers, accounts, budgets, relays: always locked in this order.
    const nonces = await lockNonces(transaction, signers)
    const accounts = await lockAccounts(transaction, profiles, { ...options, nowSeconds })
    const budgets = await lockBudgets(transaction, scopesOf(acceptances, accounts, options.unregistered, nowSeconds))
    const taken = isSuspicious ? await takenBy(transaction, acceptances) : nothingTaken()
    const draft = createDraft({ ...options, nonces, accounts, budgets, taken }, acceptances)
    if (draft.relays.length > 0 && !(await storeRelays(transaction, draft, nowSeconds, holders))) {
      throw new Error('the ledger has changed in spite of its locks')
    }
    return draft
  })
  memory.keep(draft)
  return [...draft.outcomes]
}

async function lockNonces(db: Queries, signers: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('signer_accounts')
    .selectAll()
    .where('address', '=', anyOf([...new Set(signers)]))
    .orderBy('address')
    .forUpdate()
    .execute()
  return new Map(rows.map(({ address, next_nonce }) => [address, Number(next_nonce)]))
}

/** The budgets that these draw on whose profiles are not registered. */
function scopesOf(
  acceptances: readonly Acceptance[],
  accounts: ReadonlyMap<string, Account>,
  limits: UnregisteredLimits,
  nowSeconds: number,
): string[] {
  const codes = acceptances
    .filter(({ call }) => accounts.get(call.profile)?.registered === false)
    .map(({ code }) => code ?? UNKNOWN_CODE)
  return [...new Set(codes)].flatMap((code) =>
    budgetsFor(code, limits, new Map(), nowSeconds).map(({ scope }) => scope),
  )
}
