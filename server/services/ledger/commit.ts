import { anyOf } from '../database/tables.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { DatabaseAwayError, retryOnConflict } from '../database/postgres-pool.ts'
import { accountNow, type Account, whenOpened } from '../quotas/plans.ts'
import { lockAccounts } from './accounts.ts'
import { budgetsFor, lockBudgets, UNKNOWN_CODE, type UnregisteredLimits, type BudgetUse } from './budgets.ts'
import { nothingTaken, takenBy } from './lookup.ts'
import { createDraft, type DraftOptions, type Acceptance, type Committed, type Draft, type NewRelays } from './draft.ts'
import { sql } from 'kysely'

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
    const taken = isSuspicious
      ? await takenBy(
          transaction,
          acceptances.map(({ call }) => call),
        )
      : nothingTaken()
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

/** Another process has taken a signer over: what this one wanted to store is to be stored under a new hold. */
export class NotHeldError extends Error {}

/** Who stores, by signer: the names under which this process has taken them. */
type Holders = ReadonlyMap<string, string>

/** Writes down who has a signer from now on. Lost in a crash of the database, it is lost with whoever had it. */
export async function takeSigner(db: Queries, signer: string, holder: string): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update signer_accounts set holder = ${holder} from quick where address = ${signer}`.execute(db)
}

/**
 * Stores relays, moves the nonces of their signers on and reserves their quota: all of it or nothing, in one statement.
 *
 * @param holders absent: no other process stores
 * @returns false, and nothing is stored, when no signer's nonce is the expected one
 * @throws NotHeldError; what the driver throws for a serialisation failure, when the nonce of some signers is another one, or an
 *   account is in another period, suspended, slowed, registered or not contrary to what is said, or without so much left; when a
 *   budget has not so much left; for a unique violation, when a call or a nonce is
 *   taken. Nothing is stored then
 */
export async function storeRelays(
  db: Queries,
  { relays, nonces, charges, budgets }: NewRelays,
  nowSeconds: number,
  holders?: Holders,
): Promise<boolean> {
  const isHeld = holders ? sql`are_held(${[...holders.keys()]}::text[], ${[...holders.values()]}::text[])` : sql`true`
  const { rows } = await sql<{ stored: boolean | null }>`select case when ${isHeld} then store_relays(
    ${nonces.map(({ signer }) => signer)}::text[],
    ${nonces.map(({ expected }) => expected)}::bigint[],
    ${nonces.map(({ next }) => next)}::bigint[],
    ${charges.map(({ profile }) => profile)}::text[],
    ${charges.map(({ period }) => period)}::integer[],
    ${charges.map(({ amount }) => String(amount))}::numeric[],
    ${charges.map(({ registered }) => registered)}::boolean[],
    ${budgets.map(({ scope }) => scope)}::text[],
    ${budgets.map(({ startsAt }) => startsAt)}::bigint[],
    ${budgets.map(({ amount }) => String(amount))}::numeric[],
    ${budgets.map(({ limit }) => String(limit))}::numeric[],
    ${nowSeconds}::bigint,
    ${JSON.stringify(relays)}::json) end as stored`.execute(db)
  const stored = rows[0]?.stored ?? null
  if (stored === null) throw new NotHeldError('a signer is held by another process')
  return stored
}
