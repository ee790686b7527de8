import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SignerAccount } from '../signers/signers.ts'
import type { Insertable } from 'kysely'
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

/** A simulated call on its way into the ledger. */
export interface Acceptance {
  readonly call: RelayCall
  readonly identity: string
  readonly gasLimit: bigint
  /** Who sends it. */
  readonly signer: SignerAccount
  /** What the key manager of an unregistered profile runs: the hash of known code, or `UNKNOWN_CODE`; null: not asked for. */
  readonly code: string | null
}

/** What became of it. */
export type Committed =
  /** Stored with the account's next nonce: from here on it is ours to get mined. */
  | {
      readonly kind: 'stored'
      /** Of the transaction, which calls of a bundle share. */
      readonly hash: string
      readonly raw: string
      readonly accountNonce: number
      /** `relays.hash`. */
      readonly relay: string
    }
  /** The same call was there already. */
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** The one before it in its channel was refused. */
  | { readonly kind: 'orphaned' }

/** A relay with its first transaction. Of a bundle, the relay at place 0 brings the transaction of all. */
type NewRelay = Omit<Insertable<RelaysTable>, 'status'> &
  Pick<Insertable<AttemptsTable>, 'raw' | 'max_fee_per_gas' | 'max_priority_fee_per_gas' | 'carries'>

/** Relays, and what they take of signers and accounts: each of these once, in the order of their addresses. */
export interface NewRelays {
  readonly relays: readonly NewRelay[]
  readonly nonces: readonly { readonly signer: string; readonly expected: number; readonly next: number }[]
  readonly charges: readonly {
    readonly profile: string
    readonly period: number
    readonly amount: bigint
    readonly registered: boolean
  }[]
  /** What unregistered profiles draw on, and by how much gas. */
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
  /** As they stand now, by profile. */
  readonly accounts: ReadonlyMap<string, Account>
  /** What was used of budgets, by scope. */
  readonly budgets: BudgetUse
  readonly taken: Taken
  /** Absent: every call has a transaction of its own. */
  readonly bundles?: BundleLimits | undefined
}

/** What calls of one signer may share a transaction. */
export interface BundleLimits {
  /** The bundler's address. */
  readonly contract: string
  readonly maxCalls: number
  /** Highest gas limit of a bundle. */
  readonly maxGas: bigint
  /** The most call data of a bundle, in bytes. */
  readonly maxDataBytes: number
}

/** What is decided about acceptances, and all that is to be stored. */
export interface Draft extends NewRelays {
  /** One for each acceptance. */
  readonly outcomes: readonly Committed[]
  /** As they will be. */
  readonly nextNonces: ReadonlyMap<string, number>
  readonly accounts: ReadonlyMap<string, Account>
  readonly budgetUse: BudgetUse
}

/** @param acceptances those of one channel in nonce order */
export function createDraft(options: DraftOptions, acceptances: readonly Acceptance[]): Draft {
  const { taken } = options
  const spending = createSpending(options)
  const accepted = new Map<string, Accepted>()
  const brokenChannels = new Set<string>()

  /** @returns the outcome, or what is to be signed, which another acceptance of the same call shares */
  function decide(acceptance: Acceptance): Exclude<Committed, { kind: 'stored' }> | Accepted {
    const { keyManager, signer, nonce } = acceptance.call
    const channel = `${keyManager}:${signer}:${nonce >> 128n}`
    const same = taken.byIdentity.get(acceptance.identity)
    if (same !== undefined) {
      // Another process has stored it, perhaps for another account: what follows looks anew at who sends the channel's calls.
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
      const one = { acceptance, quota: spending.reserve(acceptance) }
      accepted.set(acceptance.identity, one)
      taken.nonces.add(nonceKeyOf(keyManager, signer, nonce))
      return one
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      brokenChannels.add(channel)
      return { kind: 'refused', error }
    }
  }

  const decided = acceptances.map(decide)
  const { relays, stored, nextNonces } = signAll([...accepted.values()], options)
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

/** A call that is to be signed, and what it was given. */
interface Accepted {
  readonly acceptance: Acceptance
  readonly quota: Reserved
}

/** Signs calls with the next nonces of their signers, those that may share a transaction together. */
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
    // Nothing overtakes a call that does not fit: channels keep their order.
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

/** What a call was given of its profile's quota. */
interface Reserved {
  readonly account: Account
  readonly reserved: bigint
}

/** What the acceptances of a draft take of accounts and budgets, one after the other. */
function createSpending({ plans, registration, unregistered, fees, nowMs, ...before }: DraftOptions) {
  const accounts = new Map(before.accounts)
  const charges = new Map<string, { readonly period: number; readonly amount: bigint; readonly registered: boolean }>()
  const budgetUse = new Map(before.budgets)
  const drawn = new Map<string, { readonly startsAt: number; readonly amount: bigint; readonly limit: bigint }>()
  const nowSeconds = Math.floor(nowMs / 1000)

  /** @throws ServiceError RATE_LIMITED */
  function draw(code: string | null, gas: bigint): void {
    const budgets = budgetsFor(code ?? UNKNOWN_CODE, unregistered, budgetUse, nowSeconds)
    if (leftOf(budgets) < gas) throw budgetExhausted(budgets, gas, nowSeconds)
    for (const { scope, startsAt, used, limit } of budgets) {
      budgetUse.set(scope, { startsAt, used: used + gas })
      drawn.set(scope, { startsAt, limit, amount: (drawn.get(scope)?.amount ?? 0n) + gas })
    }
  }

  /** @throws ServiceError */
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

/** What a relay's row says of the call; its transaction has the rest. */
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

/** Entries in the order in which rows are locked: two transactions cannot wait for each other. */
const inOrder = <Value>(byAddress: ReadonlyMap<string, Value>) =>
  [...byAddress].sort(([one], [other]) => (one < other ? -1 : 1))
