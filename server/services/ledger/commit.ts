import { sql, type Insertable } from 'kysely'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Queries } from '../database/database.ts'
import type { AttemptsTable, RelaysTable } from '../database/tables.ts'
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
  readonly signer: SignerAccount
  readonly fees: Fees
}

/** A transaction that another process stored and did not get to send. */
export interface Unsent {
  readonly hash: string
  readonly raw: string
}

/** @throws ServiceError PROFILE_NOT_REGISTERED */
export function assertServed(profile: string, account: Account | undefined, registration: Registration): void {
  if (account?.suspended) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is suspended`)
  if (registration === 'registered' && account?.registered !== true) {
    throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} is not registered with this service`)
  }
}

/**
 * Reserves the quota, takes the account's next nonces and stores the signed transactions, all in one database
 * transaction and before anything is sent. Nobody else commits for the same account meanwhile.
 *
 * @param acceptances those of one channel in nonce order
 * @returns one outcome for each, and what lies unsent under the nonces before
 */
export async function commit(
  db: Queries,
  acceptances: readonly Acceptance[],
  options: CommitOptions,
): Promise<{ outcomes: Committed[]; unsent: Unsent[] }> {
  const { chainId, plans, registration, nowMs, signer, fees } = options
  const nowSeconds = Math.floor(nowMs / 1000)
  return db.transaction().execute(async (transaction) => {
    const { next_nonce } = await transaction
      .selectFrom('signer_accounts')
      .where('address', '=', signer.address)
      .select('next_nonce')
      .forUpdate()
      .executeTakeFirstOrThrow()
    const unsent = await transaction
      .selectFrom('attempts')
      .innerJoin('relays', 'relays.hash', 'attempts.relay')
      .where('attempts.account', '=', signer.address)
      .where('attempts.sent_at_ms', 'is', null)
      .where('relays.status', '=', 'pending')
      .where(isLatestAttempt)
      .orderBy('attempts.account_nonce')
      .select(['attempts.hash', 'attempts.raw'])
      .execute()
    const taken = await takenBy(transaction, acceptances)
    const accounts = await lockAccounts(
      transaction,
      acceptances.map(({ call }) => call.profile),
      { plans, registration, nowSeconds },
    )

    const touched = new Set<string>()
    const brokenChannels = new Set<string>()
    const relays: Insertable<RelaysTable>[] = []
    const attempts: Insertable<AttemptsTable>[] = []
    let nonce = Number(next_nonce)

    const outcomes = acceptances.map(({ call, identity, gasLimit }): Committed => {
      const { profile, keyManager } = call
      const channel = `${keyManager}:${call.signer}:${call.nonce >> 128n}`
      const same = taken.byIdentity.get(identity)
      if (same !== undefined) return { kind: 'known', hash: same }
      if (brokenChannels.has(channel)) return { kind: 'orphaned' }
      const refuse = (error: ServiceError): Committed => {
        brokenChannels.add(channel)
        return { kind: 'refused', error }
      }
      if (taken.nonces.has(nonceKey(keyManager, call.signer, call.nonce))) {
        return refuse(new ServiceError('NONCE_CONFLICT', 'another payload was accepted with this nonce'))
      }
      const account = accounts.get(profile)
      try {
        assertServed(profile, account, registration)
      } catch (error) {
        if (error instanceof ServiceError) return refuse(error)
        throw error
      }
      if (!account) return refuse(new ServiceError('PROFILE_NOT_REGISTERED', `${profile} has no account`))
      const wanted = planOf(account, plans).reserve({ gasLimit, maxFeePerGasWei: maxFeePerGas(fees) })
      if (wanted > availableIn(account)) return refuse(quotaExceeded(account, plans, wanted, nowSeconds))
      const reserved = moveReservation(account, 0n, wanted)
      accounts.set(profile, reserved.account)
      touched.add(profile)

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
        plan: account.plan,
        period: account.period,
        reserved: String(wanted),
        gas_limit: gasLimit,
        account: signer.address,
        account_nonce: nonce,
        created_at_ms: nowMs,
        request_id: call.requestId ?? null,
      })
      attempts.push(
        attemptRow({ hash, raw }, { relay: hash, kind: 'call', account: signer.address, nonce, fees, nowMs }),
      )
      taken.byIdentity.set(identity, hash)
      taken.nonces.add(nonceKey(keyManager, call.signer, call.nonce))
      nonce++
      return { kind: 'stored', hash, raw }
    })

    await saveAccounts(
      transaction,
      [...accounts.values()].filter(({ profile }) => touched.has(profile)),
    )
    if (relays.length > 0) {
      await transaction.insertInto('relays').values(relays).execute()
      await transaction.insertInto('attempts').values(attempts).execute()
      await transaction
        .updateTable('signer_accounts')
        .set({ next_nonce: nonce })
        .where('address', '=', signer.address)
        .execute()
    }
    return { outcomes, unsent }
  })
}

/** No attempt under the same nonce came after it: an older one must not be sent in its stead. */
const isLatestAttempt = sql<boolean>`not exists (
  select 1 from ${sql.table('attempts')} as later
  where later.relay = attempts.relay and later.created_at_ms > attempts.created_at_ms)`

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
    max_priority_fee_per_gas: String(fees.type === 2 ? fees.maxPriorityFeePerGas : fees.gasPrice),
    created_at_ms: of.nowMs,
  }
}

/** Which of these calls, or of their nonces, the ledger already has. */
async function takenBy(db: Queries, acceptances: readonly Acceptance[]) {
  const columns = ['identity', 'hash', 'key_manager', 'signer', 'nonce', 'status'] as const
  const rows = await db
    .selectFrom('relays')
    .where('status', '<>', 'abandoned')
    .where(
      'identity',
      'in',
      acceptances.map(({ identity }) => identity),
    )
    .select(columns)
    .union(
      db
        .selectFrom('relays')
        .where('status', 'in', ['pending', 'succeeded'])
        .where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('key_manager', 'signer', 'nonce'),
            'in',
            acceptances.map(({ call }) =>
              tuple(call.keyManager, call.signer, sql<string>`${String(call.nonce)}::numeric`),
            ),
          ),
        )
        .select(columns),
    )
    .execute()
  const identities = new Set(acceptances.map(({ identity }) => identity))
  return {
    byIdentity: new Map(
      rows.filter((row) => identities.has(row.identity)).map(({ identity, hash }) => [identity, hash]),
    ),
    nonces: new Set(
      rows
        .filter(({ status }) => status !== 'reverted')
        .map((row) => nonceKey(row.key_manager, row.signer, BigInt(row.nonce))),
    ),
  }
}

const nonceKey = (keyManager: string, signer: string, nonce: bigint) => `${keyManager}:${signer}:${nonce}`

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
