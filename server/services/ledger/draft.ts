import type { Insertable } from 'kysely'
import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SignerAccount } from '../signers/signers.ts'
import type { AttemptsTable, RelaysTable } from '../database/tables.ts'
import { availableIn, moveReservation, planOf, type Account, type Plans } from '../quotas/plans.ts'
import { bundleBytes, bundleGasLimit, MAX_BUNDLED_BYTES, transactionFor } from '../../ethereum/bundle.ts'
import { maxFeePerGas, type Fees } from '../../ethereum/transaction.ts'
import { type Registration, assertNotSlowed, assertServed, quotaExceeded } from './accounts.ts'
import { feeColumns } from './attempts.ts'
import {
  budgetExhausted,
  budgetsFor,
  leftOf,
  UNKNOWN_CODE,
  type BudgetUse,
  type UnregisteredLimits,
} from './budgets.ts'
import { nextCallState } from './lifecycle.ts'
import { type Taken, nonceKeyOf } from './lookup.ts'

/** A call that has passed its simulation and is to be stored. */
export interface Acceptance {
  readonly call: RelayCall
  readonly identity: string
  readonly gasLimit: bigint
  /** The relayer's account that sends it. */
  readonly signer: SignerAccount
  /**
   * For an unregistered profile: the hash of the code that its key manager runs, or `UNKNOWN_CODE`. Null: the profile was
   * registered when the call was admitted.
   */
  readonly code: string | null
}

/** What became of an acceptance. */
export type Committed =
  /** The call is stored with the account's next nonce. From here on the server has to get it mined. */
  | {
      readonly kind: 'stored'
      /** Hash of the transaction; calls of a bundle share it. */
      readonly hash: string
      readonly raw: string
      readonly accountNonce: number
      /** `relays.hash`. */
      readonly relay: string
    }
  /** The ledger already has the same call. */
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** The call before it in its channel was refused. */
  | { readonly kind: 'orphaned' }

/** A relay with its first transaction. In a bundle, the relay at place 0 carries the transaction, and the others `''`. */
type NewRelay = Omit<Insertable<RelaysTable>, 'status'> &
  Pick<Insertable<AttemptsTable>, 'raw' | 'max_fee_per_gas' | 'max_priority_fee_per_gas' | 'carries'>

/** Relays, and what they take of signers, accounts and budgets. Each of these is listed once, in the order of its key. */
export interface NewRelays {
  readonly relays: readonly NewRelay[]
  readonly nonces: readonly { readonly signer: string; readonly expected: number; readonly next: number }[]
  readonly charges: readonly {
    readonly profile: string
    readonly period: number
    readonly amount: bigint
    readonly registered: boolean
  }[]
  /** The budgets that unregistered profiles draw on. Amounts and limits are gas. */
  readonly budgets: readonly {
    readonly scope: string
    readonly startsAt: number
    readonly amount: bigint
    readonly limit: bigint
  }[]
}

export interface DraftOptions {
  readonly chainId: bigint
  readonly plans: Plans
  readonly registration: Registration
  readonly unregistered: UnregisteredLimits
  readonly nowMs: number
  readonly fees: Fees
  /** Next nonces by signer. */
  readonly nonces: ReadonlyMap<string, number>
  /** By profile, as the accounts stand now. */
  readonly accounts: ReadonlyMap<string, Account>
  /** What was used of budgets, by scope. */
  readonly budgets: BudgetUse
  readonly taken: Taken
  /** Absent: every call has a transaction of its own. */
  readonly bundles?: BundleLimits | undefined
}

/** Which calls of one signer may share a transaction. */
export interface BundleLimits {
  /** The bundler's address. */
  readonly contract: string
  readonly maxCalls: number
  /** Highest gas limit of a bundle. */
  readonly maxGas: bigint
  /** The most call data of a bundle, in bytes. */
  readonly maxDataBytes: number
}

/** The decision about each acceptance, and all that is to be stored. */
export interface Draft extends NewRelays {
  /** One for each acceptance, in the same order. */
  readonly outcomes: readonly Committed[]
  /** Nonces, accounts and budgets as they are once the draft is stored. */
  readonly nextNonces: ReadonlyMap<string, number>
  readonly accounts: ReadonlyMap<string, Account>
  readonly budgetUse: BudgetUse
}

/**
 * Decides about acceptances one after the other, and signs what is accepted. Nothing is stored yet.
 *
 * @param acceptances calls of one channel stand in the order of their nonces
 */
export function createDraft(options: DraftOptions, acceptances: readonly Acceptance[]): Draft {
  const spending = createSpending(options)
  const { decided, accepted } = decideAll(acceptances, options.taken, spending.reserve)
  const { relays, stored, nextNonces } = signAll(accepted, options)
  const told = new Set<Accepted>()
  const outcomes = decided.map((one): Committed => {
    if ('kind' in one) return one
    const outcome = stored.get(one)
    if (!outcome) throw new Error('a call was accepted and not signed')
    if (told.has(one)) return { kind: 'known', hash: outcome.hash }
    told.add(one)
    return outcome
  })
  return {
    outcomes,
    relays,
    nextNonces,
    accounts: spending.accounts,
    budgetUse: spending.budgetUse,
    nonces: inOrder(options.nonces).map(([signer, expected]) => ({
      signer,
      expected,
      next: nextNonces.get(signer) ?? expected,
    })),
    charges: inOrder(spending.charges).map(([profile, charge]) => ({ profile, ...charge })),
    budgets: inOrder(spending.drawn).map(([scope, one]) => ({ scope, ...one })),
  }
}

/** A call that is to be signed, and the quota that is reserved for it. */
interface Accepted {
  readonly acceptance: Acceptance
  readonly quota: Reserved
}

/**
 * Decides which acceptances are to be signed.
 *
 * @param taken the nonces of accepted calls are added
 * @returns for each acceptance its outcome, or the call to be signed, which is the same object for every acceptance of the same
 *   call; and these calls, each once
 */
function decideAll(acceptances: readonly Acceptance[], taken: Taken, reserve: (acceptance: Acceptance) => Reserved) {
  const accepted = new Map<string, Accepted>()
  const brokenChannels = new Set<string>()

  function decide(acceptance: Acceptance): Exclude<Committed, { kind: 'stored' }> | Accepted {
    const { keyManager, signer, nonce } = acceptance.call
    const channel = `${keyManager}:${signer}:${nonce >> 128n}`
    const same = taken.byIdentity.get(acceptance.identity)
    if (same !== undefined) {
      // Another process has stored it, perhaps for another account of the relayer. The calls behind it in the channel are
      // `orphaned`, so that they choose their account again.
      brokenChannels.add(channel)
      return { kind: 'known', hash: same }
    }
    const twin = accepted.get(acceptance.identity)
    if (twin) return twin
    if (brokenChannels.has(channel)) return { kind: 'orphaned' }
    try {
      if (taken.nonces.has(nonceKeyOf(keyManager, signer, nonce))) {
        throw new ServiceError('NONCE_CONFLICT', 'another payload was accepted with this nonce', {
          details: { expectedNonce: String(nonce + 1n) },
        })
      }
      const one = { acceptance, quota: reserve(acceptance) }
      accepted.set(acceptance.identity, one)
      taken.nonces.add(nonceKeyOf(keyManager, signer, nonce))
      return one
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      brokenChannels.add(channel)
      return { kind: 'refused', error }
    }
  }

  return { decided: acceptances.map(decide), accepted: [...accepted.values()] }
}

/** Signs calls with the next nonces of their signers. Calls that may share a transaction get one. */
function signAll(
  accepted: readonly Accepted[],
  { chainId, fees, nowMs, bundles, nonces }: Pick<DraftOptions, 'chainId' | 'fees' | 'nowMs' | 'bundles' | 'nonces'>,
) {
  const nextNonces = new Map(nonces)
  const relays: NewRelay[] = []
  const stored = new Map<Accepted, Extract<Committed, { kind: 'stored' }>>()
  for (const group of togetherIn(accepted, bundles)) {
    const [first] = group
    if (!first) continue
    const { signer } = first.acceptance
    const nonce = nextNonces.get(signer.address) ?? 0
    nextNonces.set(signer.address, nonce + 1)
    const calls = group.map(({ acceptance: { call, gasLimit } }) => ({
      to: call.keyManager,
      gasLimit,
      data: call.callData,
    }))
    const transaction = transactionFor(calls, bundles?.contract)
    const { hash, raw } = signer.sign({ chainId, nonce, fees, ...transaction })
    for (const [place, one] of group.entries()) {
      const { acceptance, quota } = one
      nextCallState('unknown', 'accepted')
      const relay = group.length === 1 ? hash : `${hash}/${place}`
      relays.push({
        ...columnsOf(acceptance, quota),
        hash: relay,
        raw: place === 0 ? raw : '',
        account_nonce: nonce,
        created_at_ms: nowMs,
        ...feeColumns(fees),
        ...(group.length > 1 && { bundle: hash, place, carries: group.map((_, at) => at) }),
      })
      stored.set(one, { kind: 'stored', hash, raw, accountNonce: nonce, relay })
    }
  }
  return { relays, stored, nextNonces }
}

/** Groups of calls that share a transaction, in the order of the calls. */
function togetherIn(accepted: readonly Accepted[], bundles: BundleLimits | undefined): Accepted[][] {
  if (!bundles) return accepted.map((one) => [one])
  const groups: Accepted[][] = []
  const open = new Map<string, Accepted[]>()
  for (const one of accepted) {
    const { signer } = one.acceptance
    const group = open.get(signer.address)
    // A call that does not fit closes the group: a later call must not overtake it in its channel.
    if (group && fitTogether([...group, one], bundles)) {
      group.push(one)
      continue
    }
    const next = [one]
    groups.push(next)
    open.set(signer.address, next)
  }
  return groups
}

function fitTogether(group: readonly Accepted[], limits: BundleLimits): boolean {
  const gasLimits = group.map(({ acceptance }) => acceptance.gasLimit)
  const lengths = group.map(({ acceptance: { call } }) => (call.callData.length - 2) / 2)
  return (
    group.length <= limits.maxCalls &&
    bundleGasLimit(gasLimits) <= limits.maxGas &&
    lengths.every((length) => length <= MAX_BUNDLED_BYTES) &&
    bundleBytes(lengths) <= limits.maxDataBytes
  )
}

/** The quota that is reserved for a call, and the account before that. */
interface Reserved {
  readonly account: Account
  readonly reserved: bigint
}

/** Takes quota and budgets for the calls of a draft, one call after the other. */
function createSpending({ plans, registration, unregistered, fees, nowMs, ...before }: DraftOptions) {
  const accounts = new Map(before.accounts)
  const charges = new Map<string, { readonly period: number; readonly amount: bigint; readonly registered: boolean }>()
  const budgetUse = new Map(before.budgets)
  const drawn = new Map<string, { readonly startsAt: number; readonly amount: bigint; readonly limit: bigint }>()
  const nowSeconds = Math.floor(nowMs / 1000)

  /** Takes gas of the budgets for unregistered profiles. @throws ServiceError RATE_LIMITED */
  function draw(code: string | null, gas: bigint): void {
    const budgets = budgetsFor(code ?? UNKNOWN_CODE, unregistered, budgetUse, nowSeconds)
    if (leftOf(budgets) < gas) throw budgetExhausted(budgets, gas, nowSeconds)
    for (const { scope, startsAt, used, limit } of budgets) {
      budgetUse.set(scope, { startsAt, used: used + gas })
      drawn.set(scope, { startsAt, limit, amount: (drawn.get(scope)?.amount ?? 0n) + gas })
    }
  }

  /** @throws ServiceError PROFILE_NOT_REGISTERED, QUOTA_EXCEEDED, RATE_LIMITED */
  function reserve({ call: { profile }, gasLimit, code }: Acceptance): Reserved {
    const account = accounts.get(profile)
    assertServed(profile, account, registration)
    if (!account) throw new ServiceError('PROFILE_NOT_REGISTERED', `${profile} has no account`)
    assertNotSlowed(account, nowSeconds)
    const reserved = planOf(account, plans).reserve({ gasLimit, maxFeePerGasWei: maxFeePerGas(fees) })
    if (reserved > availableIn(account)) {
      throw quotaExceeded(account, plans, reserved, nowSeconds)
    }
    if (!account.registered) draw(code, gasLimit)
    accounts.set(profile, moveReservation(account, 0n, reserved).account)
    const amount = (charges.get(profile)?.amount ?? 0n) + reserved
    charges.set(profile, { period: account.period, amount, registered: account.registered })
    return { account, reserved }
  }

  return { reserve, accounts, charges, budgetUse, drawn }
}

/** The columns of a relay that say what the call is. Its payload stands in the signed transaction alone. */
function columnsOf({ call, identity, gasLimit, signer }: Acceptance, { account, reserved }: Reserved) {
  const end = call.validityTimestamps & ((1n << 128n) - 1n)
  return {
    identity,
    profile: call.profile,
    key_manager: call.keyManager,
    signer: call.signer,
    nonce: String(call.nonce),
    expires_at: end === 0n ? null : String(end),
    plan: account.plan,
    period: account.period,
    reserved: String(reserved),
    gas_limit: String(gasLimit),
    account: signer.address,
    request_id: call.requestId ?? null,
  }
}

/** Entries in the order in which rows are locked, so that no two transactions wait for each other. */
const inOrder = <Value>(byAddress: ReadonlyMap<string, Value>) =>
  [...byAddress].sort(([one], [other]) => (one < other ? -1 : 1))
