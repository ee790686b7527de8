import { sql, type Insertable, type QueryCreator } from 'kysely'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { anyOf } from '../database/any-of.ts'
import type { Queries } from '../database/database.ts'
import { retryOnConflict } from '../database/retry.ts'
import type { AttemptsTable, RelaysTable, SignerAccountsTable, Tables } from '../database/tables.ts'
import { availableIn, moveReservation, planOf, type Account } from '../quotas/account.ts'
import type { Plans } from '../quotas/plans.ts'
import { maxFeePerGas, type Fees } from '../signers/sign-transaction.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import { lockAccounts, saveAccounts, type Registration } from './account-rows.ts'

/** A simulated call on its way into the ledger. */
export interface Acceptance {
  readonly call: RelayCall
  readonly identity: string
  readonly gasLimit: bigint
  /** Who sends it. */
  readonly signer: SignerAccount
}

/** What became of it. */
export type Committed =
  /** Stored with the account's next nonce: from here on it is ours to get mined. */
  | { readonly kind: 'stored'; readonly hash: string; readonly raw: string }
  /** The same call was there already. */
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** The one before it in its channel was refused. */
  | { readonly kind: 'orphaned' }

export interface CommitOptions {
  readonly chainId: bigint
  readonly plans: Plans
  readonly registration: Registration
  readonly nowMs: number
  readonly fees: Fees
}

/** @throws ServiceError PROFILE_NOT_REGISTERED */
export function assertServed(profile: string, account: Account | undefined, registration: Registration): void {
  if (account?.suspended) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is suspended`)
  if (registration === 'registered' && account?.registered !== true) {
    throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is not registered with this service`)
  }
}

/**
 * Reserves the quota, takes the accounts' next nonces and stores the signed transactions, all in one database
 * transaction and before anything is sent. That a call or its nonce is taken already is rare: the unique indexes tell,
 * and only then it is looked up which.
 *
 * @param acceptances those of one channel in nonce order
 * @returns one outcome for each; the nonces of an account rise in their order
 */
export async function commit(
  db: Queries,
  acceptances: readonly Acceptance[],
  options: CommitOptions,
): Promise<Committed[]> {
  return retryOnConflict((tries) => commitOnce(db, acceptances, { ...options, isSuspicious: tries > 1 }))
}

async function commitOnce(
  db: Queries,
  acceptances: readonly Acceptance[],
  { isSuspicious, ...options }: CommitOptions & { readonly isSuspicious: boolean },
): Promise<Committed[]> {
  const nowSeconds = Math.floor(options.nowMs / 1000)
  const profiles = acceptances.map(({ call }) => call.profile)
  return db.transaction().execute(async (transaction) => {
    // Signers, accounts, relays: always locked in this order.
    const nonces = await lockNonces(
      transaction,
      acceptances.map(({ signer }) => signer.address),
    )
    const accounts = await lockAccounts(transaction, profiles, { ...options, nowSeconds })
    const taken = isSuspicious ? await takenBy(transaction, acceptances) : nothingTaken()
    const draft = createDraft({ ...options, nowSeconds, nonces, accounts, taken })
    const outcomes = acceptances.map((acceptance) => draft.accept(acceptance))
    if (draft.relays.length > 0) {
      const changed = [...accounts.values()].filter(({ profile }) => draft.touched.has(profile))
      // One statement: each costs a round trip.
      await transaction
        .with('saved_relays', (db) => db.insertInto('relays').values(draft.relays))
        .with('saved_attempts', (db) => db.insertInto('attempts').values(draft.attempts))
        .with('saved_accounts', () => saveAccounts(transaction, changed))
        .with('saved_nonces', () => saveNonces(transaction, nonces))
        .selectNoFrom(sql`1`.as('done'))
        .execute()
    }
    return outcomes
  })
}

interface DraftOptions extends CommitOptions {
  readonly nowSeconds: number
  /** Next nonces by signer; counted up. */
  readonly nonces: Map<string, number>
  /** By profile; charged. */
  readonly accounts: Map<string, Account>
  readonly taken: Taken
}

/** Decides about one acceptance after the other, and collects the rows to be written. */
function createDraft({ chainId, plans, registration, fees, nowMs, nowSeconds, nonces, accounts, taken }: DraftOptions) {
  const relays: Insertable<RelaysTable>[] = []
  const attempts: Insertable<AttemptsTable>[] = []
  const touched = new Set<string>()
  const brokenChannels = new Set<string>()

  function reserve(profile: string, gasLimit: bigint): { account: Account; reserved: bigint } {
    const account = accounts.get(profile)
    assertServed(profile, account, registration)
    if (!account) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} has no account`)
    const reserved = planOf(account, plans).reserve({ gasLimit, maxFeePerGasWei: maxFeePerGas(fees) })
    if (reserved > availableIn(account)) throw quotaExceeded(account, plans, reserved, nowSeconds)
    accounts.set(profile, moveReservation(account, 0n, reserved).account)
    touched.add(profile)
    return { account, reserved }
  }

  function accept({ call, identity, gasLimit, signer }: Acceptance): Committed {
    const { profile, keyManager } = call
    const same = taken.byIdentity.get(identity)
    if (same !== undefined) return { kind: 'known', hash: same }
    const channel = `${keyManager}:${call.signer}:${call.nonce >> 128n}`
    if (brokenChannels.has(channel)) return { kind: 'orphaned' }
    const nonceKey = nonceKeyOf(keyManager, call.signer, call.nonce)
    let quota: ReturnType<typeof reserve>
    try {
      if (taken.nonces.has(nonceKey)) {
        throw new ServiceError('NONCE_CONFLICT', 'another payload was accepted with this nonce', {
          details: { expectedNonce: String(call.nonce + 1n) },
        })
      }
      quota = reserve(profile, gasLimit)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      brokenChannels.add(channel)
      return { kind: 'refused', error }
    }
    const nonce = nonces.get(signer.address) ?? 0
    nonces.set(signer.address, nonce + 1)
    const { hash, raw } = signer.sign({ chainId, nonce, to: keyManager, gasLimit, data: call.callData, fees })
    const end = call.validityTimestamps & ((1n << 128n) - 1n)
    relays.push({
      hash,
      identity,
      profile,
      key_manager: keyManager,
      signer: call.signer,
      nonce: String(call.nonce),
      expires_at: end === 0n ? null : String(end),
      call_data: call.callData,
      status: 'pending',
      plan: quota.account.plan,
      period: quota.account.period,
      reserved: String(quota.reserved),
      gas_limit: String(gasLimit),
      account: signer.address,
      account_nonce: nonce,
      created_at_ms: nowMs,
      request_id: call.requestId ?? null,
    })
    attempts.push(attemptRow({ hash, raw }, { relay: hash, kind: 'call', account: signer.address, nonce, fees, nowMs }))
    taken.byIdentity.set(identity, hash)
    taken.nonces.add(nonceKey)
    return { kind: 'stored', hash, raw }
  }

  return { accept, relays, attempts, touched }
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

function saveNonces(db: QueryCreator<Tables>, nonces: ReadonlyMap<string, number>) {
  const changed = sql<SignerAccountsTable>`unnest(${[...nonces.keys()]}::text[], ${[...nonces.values()]}::bigint[])`
  return db
    .updateTable('signer_accounts')
    .from(changed.as<'changed'>(sql`changed(address, next_nonce)`))
    .set((row) => ({ next_nonce: row.ref('changed.next_nonce') }))
    .whereRef('signer_accounts.address', '=', 'changed.address')
}

/** A row of `attempts`. */
export function attemptRow(
  { hash, raw }: { hash: string; raw: string },
  of: { relay: string; kind: 'call' | 'cancel'; account: string; nonce: number; fees: Fees; nowMs: number },
) {
  const { fees } = of
  return {
    hash,
    relay: of.relay,
    kind: of.kind,
    account: of.account,
    account_nonce: of.nonce,
    raw,
    max_fee_per_gas: String(maxFeePerGas(fees)),
    max_priority_fee_per_gas: fees.type === 2 ? String(fees.maxPriorityFeePerGas) : null,
    created_at_ms: of.nowMs,
  }
}

interface Taken {
  /** Hash that was given for a call, by its identity. */
  readonly byIdentity: Map<string, string>
  /** Nonces of calls that are pending or have succeeded. */
  readonly nonces: Set<string>
}

const nothingTaken = (): Taken => ({ byIdentity: new Map(), nonces: new Set() })

/** Which of these calls, or of their nonces, the ledger already has. */
async function takenBy(db: Queries, acceptances: readonly Acceptance[]): Promise<Taken> {
  const calls = acceptances.map(({ call }) => call)
  const asked = sql<{ identity: string; key_manager: string; signer: string; nonce: string }>`unnest(
    ${acceptances.map(({ identity }) => identity)}::text[],
    ${calls.map(({ keyManager }) => keyManager)}::text[],
    ${calls.map(({ signer }) => signer)}::text[],
    ${calls.map(({ nonce }) => String(nonce))}::numeric[])`
  const askedAs = asked.as<'asked'>(sql`asked(identity, key_manager, signer, nonce)`)
  const rows = await db
    .selectFrom(askedAs)
    .innerJoin('relays', 'relays.identity', 'asked.identity')
    .where('relays.status', '<>', 'abandoned')
    .select(['relays.identity', 'relays.hash', sql<string>`''`.as('key_manager'), sql<string>`''`.as('signer')])
    .select(sql<string>`0::numeric`.as('nonce'))
    .unionAll(
      db
        .selectFrom(askedAs)
        .innerJoin('relays', (join) =>
          join
            .onRef('relays.key_manager', '=', 'asked.key_manager')
            .onRef('relays.signer', '=', 'asked.signer')
            .onRef('relays.nonce', '=', 'asked.nonce'),
        )
        .where('relays.status', 'in', ['pending', 'succeeded'])
        .select(['relays.identity', 'relays.hash', 'relays.key_manager', 'relays.signer', 'relays.nonce']),
    )
    .execute()
  const taken = nothingTaken()
  for (const { identity, hash, key_manager, signer, nonce } of rows) {
    if (key_manager === '') taken.byIdentity.set(identity, hash)
    else taken.nonces.add(nonceKeyOf(key_manager, signer, BigInt(nonce)))
  }
  return taken
}

const nonceKeyOf = (keyManager: string, signer: string, nonce: bigint) => `${keyManager}:${signer}:${nonce}`

function quotaExceeded(account: Account, plans: Plans, wanted: bigint, nowSeconds: number): ServiceError {
  const { unit } = planOf(account, plans)
  const available = availableIn(account)
  return new ServiceError('QUOTA_EXCEEDED', `${wanted} ${unitName[unit]} needed, ${available} left`, {
    details: { unit, needed: String(wanted), available: String(available) },
    ...(account.resetAtSeconds === null
      ? {}
      : { retryAfterSeconds: Number(account.resetAtSeconds - BigInt(nowSeconds)) }),
  })
}

const unitName = { gas: 'gas', lyx: 'wei', transactionCount: 'transactions' } as const
