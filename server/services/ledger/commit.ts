import { sql } from 'kysely'
import { anyOf } from '../database/tables.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { DatabaseAwayError, retryOnConflict } from '../database/postgres-pool.ts'
import { accountNow, type Account, whenOpened } from '../quotas/plans.ts'
import { lockAccounts } from './accounts.ts'
import { budgetsFor, lockBudgets, UNKNOWN_CODE, type UnregisteredLimits, type BudgetUse } from './budgets.ts'
import { nothingTaken, takenBy } from './lookup.ts'
import { createDraft, type DraftOptions, type Acceptance, type Committed, type Draft, type NewRelays } from './draft.ts'

export interface CommitOptions extends Pick<
  DraftOptions,
  'chainId' | 'plans' | 'registration' | 'unregistered' | 'nowMs' | 'fees' | 'bundles'
> {
  /** Read first, and updated after every commit. */
  readonly memory: LedgerMemory
  /** Absent: no other process stores. */
  readonly holders?: Holders | undefined
}

/**
 * Reserves the quota, takes the accounts' next nonces and stores the signed transactions, all in one database
 * transaction and before anything is sent.
 *
 * The first try assumes that nothing has changed since the last commit of this process, and takes one statement, in which
 * the database checks the assumption. When it does not hold, or when a call would be refused, the second try reads
 * everything under locks. A call or a nonce that is taken already is rare, so it is not looked for: a unique index refuses
 * the statement, and the next try reads which call it was.
 *
 * @param acceptances calls of one channel stand in the order of their nonces
 * @returns one outcome for each acceptance; calls of one account get rising nonces in this order
 * @throws NotHeldError another process holds a signer
 * @throws ServiceError the database does not work; with `broadcast` when the connection broke and the calls may be stored
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

/** @returns undefined when the memory lacks something, or is out of date; nothing is stored then */
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
  // The memory may be old: the account may hold more by now, so a refusal is decided under locks.
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
    const scopes = scopesOf(acceptances, accounts, options.unregistered, nowSeconds)
    const budgets = await lockBudgets(transaction, scopes, nowSeconds)
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

/** The budgets that calls of unregistered profiles draw on, by scope. */
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
 * Signers, accounts and budgets as this process saw them last. Other processes change them meanwhile, so the database checks
 * whatever is decided by this memory.
 */
export interface LedgerMemory {
  /** Next nonces by signer; undefined when one of them is not remembered. */
  nonces(signers: readonly string[]): Map<string, number> | undefined
  /** Accounts by profile; undefined when one of them is not remembered. */
  accounts(profiles: readonly string[]): Map<string, Account> | undefined
  /** What was used of budgets; a budget that is not remembered is absent. */
  readonly budgets: BudgetUse
  /** Remembers nonces, accounts and budgets as a stored draft leaves them. */
  keep(draft: Pick<Draft, 'nextNonces' | 'accounts' | 'budgetUse'>): void
}

/** The most accounts that are remembered. The one that was stored longest ago is forgotten first. */
const MAX_ACCOUNTS = 10_000

export function createLedgerMemory(): LedgerMemory {
  const nonces = new Map<string, number>()
  const accounts = new Map<string, Account>()
  // There are two for each known code, so nothing has to be forgotten.
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

/** Another process holds the signer now. This process has to take the signer again before it stores anything for it. */
export class NotHeldError extends Error {}

/** By signer, the name under which this process has taken it. */
type Holders = ReadonlyMap<string, string>

/**
 * Writes down who holds a signer from now on. The statement does not wait for the disk: when the database crashes, it ends
 * the holder's session and lock, too.
 */
export async function takeSigner(db: Queries, signer: string, holder: string): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true))
    update signer_accounts set holder = ${holder} from quick where address = ${signer}`.execute(db)
}

/**
 * Stores relays, moves the nonces of their signers on and reserves their quota: all of it or nothing, in one statement.
 *
 * Nothing is stored when it returns false or throws.
 *
 * @param holders absent: no other process stores
 * @returns false when no signer has the expected nonce
 * @throws NotHeldError another process holds a signer
 * @throws the driver's serialisation failure (40001) when some signers have another nonce than expected; when an account is in
 *   another period, is suspended or slowed, differs in `registered`, or has too little left; when a budget has too little left
 * @throws the driver's unique violation (23505) when a call or a nonce is taken
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
