import type { Selectable } from 'kysely'
import type { Quota } from '../../server/core/define.ts'
import type {
  AttemptsTable,
  BudgetsTable,
  ProfilesTable,
  RelaysTable,
  SignerAccountsTable,
} from '../../server/services/database/tables.ts'
import { max, min } from '../../server/ethereum/bigint.ts'
import { nextNonceState, type NonceState } from '../../server/services/ledger/lifecycle.ts'
import { type TransactionStatus, errorCatalogue } from '../../specs/index.ts'
import type { SignedCall } from './callers.ts'
import {
  receiptsUpTo,
  STRANGER,
  type Block,
  type CallOutcome,
  type Receipt,
  type SimulatedChain,
  type Transaction,
} from './chain.ts'
import type { Suspension } from './operator.ts'
import type { Plan } from './plan.ts'
import { EPOCH_MS } from './world-time.ts'

/** Everything that is known about a run at its end. */
export interface Evidence {
  readonly plan: Plan
  readonly calls: readonly SignedCall[]
  readonly chain: SimulatedChain
  /** The transactions that servers sent to nodes, in the order in which they arrived. */
  readonly sent: SentTransaction[]
  /** The accounts that pay. */
  readonly addresses: readonly string[]
  /** Whether every call and every nonce was settled in time. */
  readonly isEnded: boolean
  /** Callers that still wait for a last answer. */
  readonly unanswered: number
  /** The answers of a server at the end. Undefined: no server answers. */
  readonly ledger:
    | {
        /** By {@link statusName}, because the calls of a bundle share its hash. */
        readonly statuses: ReadonlyMap<string, TransactionStatus | undefined>
        readonly quotas: ReadonlyMap<string, Quota>
      }
    | undefined
  /** The most timers and answers that a server waits for in the end. */
  readonly planned: number
  readonly suspensions: readonly Suspension[]
  /** The rows of the ledger. They say more about a fault, and which nonces were used up. */
  readonly accounts: readonly Selectable<SignerAccountsTable>[]
  readonly open: readonly Selectable<RelaysTable>[]
  readonly relays: readonly Selectable<RelaysTable>[]
  readonly attempts: readonly Selectable<AttemptsTable>[]
  readonly budgets: readonly Selectable<BudgetsTable>[]
  readonly profiles: readonly Selectable<ProfilesTable>[]
}

export interface SentTransaction {
  readonly atMs: number
  readonly transaction: Transaction
  readonly node: string
  readonly answer: string
}

interface Mined {
  readonly block: Block
  readonly receipt: Receipt
}

/** What became of a relay call in a mined transaction. */
interface MinedCall extends Mined {
  readonly outcome: CallOutcome
}

/** The hashes that a call was accepted with. */
export const acceptedAs = ({ heard }: SignedCall): string[] => [
  ...new Set(heard.flatMap((one) => (one.kind === 'accepted' ? [one.hash] : []))),
]

export const statusName = ({ name }: SignedCall, hash: string) => `${hash} ${name}`

/** Timers of a server that has nothing to do: the sweep and the poll of its jobs, the upkeep of connections. */
export const MOST_PLANNED = 12

/** @returns the promises that were broken, one line each */
export function audit(evidence: Evidence): string[] {
  const isCopy = ({ receipt }: Mined) => receipt.transaction.from === STRANGER
  const all = receiptsUpTo(evidence.chain.head)
  const mined = all.filter((one) => !isCopy(one))
  const copied = new Set(
    all.filter(isCopy).flatMap(({ receipt }) => receipt.outcomes.flatMap((one) => (one.succeeded ? [one.call] : []))),
  )
  const minedCalls = mined.flatMap((one) => one.receipt.outcomes.map((outcome) => ({ ...one, outcome })))
  const byCall = Map.groupBy(minedCalls, ({ outcome }) => outcome.call)
  return [
    ...auditLiveness(evidence),
    ...evidence.calls.flatMap((call) => auditCall(call, byCall.get(call.name) ?? [], copied, evidence)),
    ...auditNonces(evidence),
    ...auditFillers(evidence),
    ...auditOrder(evidence, byCall, copied),
    ...auditParts(mined),
    ...auditCharges(evidence, mined),
    ...auditProfiles(evidence, mined, byCall),
    ...auditBudgets(evidence),
    ...auditSuspensions(evidence),
    ...auditRepeats(evidence),
    ...auditRefusals(evidence, copied),
  ]
}

/** A call is refused for reasons alone that it can have. */
function auditRefusals({ plan, calls }: Evidence, copied: ReadonlySet<string>): string[] {
  return calls.flatMap((call) => {
    const reasons = reasonsToRefuse(plan, call, calls, copied)
    const codes = new Set(call.heard.flatMap((one) => (one.kind === 'refused' && !one.isPassing ? [one.code] : [])))
    return [...codes]
      .filter((code) => !reasons.has(code))
      .map((code) => `refused: call ${call.plan.number} was told ${code}, for which it gives no reason`)
  })
}

/** The codes of final refusals that a call may get. */
function reasonsToRefuse(
  { faults }: Plan,
  { plan: call, name, validUntil }: SignedCall,
  calls: readonly SignedCall[],
  copied: ReadonlySet<string>,
): Set<string> {
  const inChannel = calls.filter(
    ({ plan: other }) =>
      other.profile === call.profile &&
      other.channel === call.channel &&
      (other.controller === call.controller || other.cheat === 'no-permission'),
  )
  const sharesNonce = inChannel.some((other) => other.name !== name && other.plan.id === call.id)
  const isTouched = faults.some((fault) => fault.kind === 'owner' && fault.profile === call.profile)
  const isSuspended = faults.some(
    (fault) => fault.kind === 'operator' && fault.command === 'suspend' && fault.profile === call.profile,
  )
  const mayRevert = inChannel.some(({ plan: { effect } }) => effect === 'reverts' || effect === 'needs-switch-off')
  const mayExpire = inChannel.some((other) => other.validUntil !== undefined)
  const codes = new Set<string>()
  const add = (isReason: boolean, ...reasons: string[]) => {
    if (isReason) for (const reason of reasons) codes.add(reason)
  }
  add(call.cheat === 'signature' || isTouched || call.isForSuccessor === true, 'INVALID_SIGNATURE')
  add(call.cheat === 'no-permission' || isTouched, 'NOT_AUTHORISED', 'INVALID_SIGNATURE')
  add(isTouched, 'PROFILE_NOT_FOUND')
  add(isSuspended, 'PROFILE_NOT_REGISTERED')
  add(validUntil !== undefined, 'EXPIRES_TOO_SOON')
  add(mayRevert || mayExpire || isTouched, 'RELAY_CALL_REVERTS')
  add(sharesNonce || copied.has(name), 'NONCE_USED', 'NONCE_CONFLICT')
  return codes
}

/** A caller who repeats a call that was sent and succeeds is not told that it will not be sent. */
function auditRepeats({ calls, sent, relays }: Evidence): string[] {
  return calls.flatMap(({ plan, name, heard }) => {
    const own = relaysOf(name, relays)
    if (own.length !== 1 || own[0]?.status !== 'succeeded') return []
    const sentAtMs = sent.find(({ transaction }) => transaction.calls.includes(name))?.atMs ?? Infinity
    return heard.flatMap((one) =>
      one.kind === 'refused' && !one.mayBeSent && !one.isPassing && one.sentAtMs > sentAtMs
        ? [`repeat: call ${plan.number} was sent, and a caller who repeated it was told ${one.code}`]
        : [],
    )
  })
}

/** After the last fault every call is settled, and a server keeps only the timers that it needs when it is idle. */
function auditLiveness({ isEnded, open, unanswered, planned, ledger, accounts, chain }: Evidence): string[] {
  const faults: string[] = []
  if (!isEnded) {
    const what = open.map(({ hash, status, account_nonce }) => `${hash.slice(0, 10)} ${status} (${account_nonce})`)
    const nonces = accounts.map(({ address, next_nonce }) => {
      return `${address.slice(0, 8)} at ${chain.head.state.nonces.get(address.toLowerCase()) ?? 0} of ${next_nonce}`
    })
    faults.push(
      `liveness: not at an end; callers ${unanswered}, relays ${what.join(', ') || 'none'}, nonces ${nonces.join(', ')}`,
    )
  }
  if (ledger === undefined) faults.push('liveness: no server answers in the end')
  if (planned > MOST_PLANNED) faults.push(`memory: a server with nothing to do waits for ${planned} things`)
  return faults
}

/** Refusals that a profile can cause itself. */
const LIMITS: ReadonlySet<string> = new Set(['QUOTA_EXCEEDED', 'RATE_LIMITED'])

/** @param copied the calls that a stranger has executed */
function auditCall(
  call: SignedCall,
  own: readonly MinedCall[],
  copied: ReadonlySet<string>,
  evidence: Evidence,
): string[] {
  const { ledger } = evidence
  const name = `call ${call.plan.number}`
  const faults: string[] = []
  const executed = own.filter(({ outcome }) => outcome.succeeded).length
  const reverted = own.length - executed
  if (executed + (copied.has(call.name) ? 1 : 0) > 1) faults.push(`once: ${name} was executed ${executed} times`)
  const hashes = acceptedAs(call)
  const isRefused = call.heard.length > 0 && call.heard.every((one) => one.kind === 'refused' && !one.mayBeSent)
  if (isRefused && executed + reverted > 0) faults.push(`refused: ${name} was refused, and sent all the same`)
  if (call.plan.cheat && call.plan.cheat !== 'other-payload' && hashes.length > 0)
    faults.push(`cheat: ${name} was accepted in spite of its ${call.plan.cheat}`)
  for (const one of call.heard) {
    if (one.kind === 'refused' && !(one.code in errorCatalogue)) faults.push(`answer: ${name} was answered ${one.code}`)
  }
  const last = call.heard.at(-1)
  if (call.plan.isProbe && executed !== 1 && !(last?.kind === 'refused' && LIMITS.has(last.code)))
    faults.push(`liveness: ${name} came in fine weather, and was executed ${executed} times`)
  if (!ledger) return faults
  const statusOf = (hash: string) => ledger.statuses.get(statusName(call, hash))?.status
  // A call that reverted can be sent again. Perhaps no caller received the answer that accepted it then.
  const wasAcceptedAgain = hashes.length > 1 || relaysOf(call.name, evidence.relays).length > 1
  for (const hash of hashes) {
    const status = statusOf(hash)
    const told = `${name}, accepted as ${hash.slice(0, 10)}, is told to be ${status ?? 'unknown'}`
    const isTrue =
      status === 'succeeded'
        ? executed === 1
        : status === 'reverted'
          ? reverted > 0 && (executed === 0 || wasAcceptedAgain)
          : status === 'abandoned'
            ? executed === 0 || wasAcceptedAgain
            : status === 'pending' && !evidence.isEnded
    if (!isTrue) faults.push(`told: ${told}; it was executed ${executed} times, and reverted ${reverted} times`)
  }
  const live = hashes.filter((hash) => !['reverted', 'abandoned'].includes(statusOf(hash) ?? ''))
  if (live.length > 1)
    faults.push(`same: ${name} was accepted as ${live.map((hash) => hash.slice(0, 10)).join(' and ')}`)
  return faults
}

/** The beginning of the name of a relay's call: key manager, signer and nonce. */
const callOf = ({ key_manager, signer, nonce }: Selectable<RelaysTable>) =>
  `${key_manager}:${signer}:${nonce}:`.toLowerCase()

/** The relays of a call, of which there are several when it was accepted again. @param call its name */
const relaysOf = (call: string, relays: readonly Selectable<RelaysTable>[]) =>
  relays.filter((relay) => call.startsWith(callOf(relay)))

/** All transactions of a nonce carry the same calls, or some of them, as the nodes see it. Every nonce is used in the end. */
function auditNonces({ sent, chain, addresses, isEnded }: Evidence): string[] {
  const faults: string[] = []
  const lives = new Map<string, { state: NonceState; calls: readonly string[]; readonly hashes: Set<string> }>()
  for (const { transaction } of sent) {
    const { from, nonce, calls, hash } = transaction
    const name = `${nonce} of ${from.slice(0, 8)}`
    const life = lives.get(`${from}/${nonce}`) ?? { state: 'free', calls, hashes: new Set() }
    lives.set(`${from}/${nonce}`, life)
    // The same bytes are the same transaction.
    if (life.hashes.has(hash)) continue
    const isPart = calls.every((call) => life.calls.includes(call)) || life.calls.every((call) => calls.includes(call))
    if (!isPart) faults.push(`nonce: ${name} was used for two calls`)
    life.hashes.add(hash)
    life.calls = [...new Set([...life.calls, ...calls])]
    try {
      // The transaction that was signed first was perhaps never sent.
      if (life.state === 'free') life.state = nextNonceState('free', 'signed')
      else if (calls.length > 0) life.state = nextNonceState(life.state, 'replaced')
      if (calls.length === 0) life.state = nextNonceState(life.state, 'cancelled')
    } catch (error) {
      faults.push(`nonce: ${name}: ${(error as Error).message}`)
    }
  }
  for (const address of addresses) {
    const from = address.toLowerCase()
    const next = chain.head.state.nonces.get(from) ?? 0
    const left = sent.filter(({ transaction }) => transaction.from === from && transaction.nonce >= next)
    const nonces = [...new Set(left.map(({ transaction }) => transaction.nonce))]
    if (isEnded && nonces.length > 0) faults.push(`nonce: ${nonces.join(', ')} of ${from.slice(0, 8)} were left out`)
  }
  return faults
}

/**
 * The follower uses up a nonce that no stored transaction has, so that the nonces after it are mined. This is meant for
 * nonces that somebody else used and that a reorganisation has freed. If a server took the nonce itself and stored nothing,
 * the nonce was lost, and that is a fault.
 */
function auditFillers({ chain, sent, attempts }: Evidence): string[] {
  const stored = new Set(attempts.map(({ hash }) => hash))
  const fillers = sent.filter(
    ({ transaction: { calls, hash, from, nonce } }) =>
      calls.length === 0 && !stored.has(hash) && !chain.stolen.has(`${from}/${nonce}`),
  )
  const names = new Set(fillers.map(({ transaction: { nonce, from } }) => `${nonce} of ${from.slice(0, 8)}`))
  return [...names].map((name) => `nonce: ${name} was taken, and given to no call`)
}

/** The selector of `InvalidRelayNonce`: the nonce of a relay call is not the next one (LSP6). */
const INVALID_RELAY_NONCE = '0xc9bd9eb9'

/**
 * The calls of a channel are executed in their order, so no call reverts because the call before it is missing. Three cases
 * are allowed. The call before it can be missing for good, because it reverts or because its time has run out: that is up to
 * its profile. A stranger may have executed the call already. And when a call reverted and was accepted again, a
 * reorganisation can take the revert back. Then the first transaction executes the call, and the second one reverts.
 *
 * @param copied the calls that a stranger has executed
 */
function auditOrder(
  { plan, calls, relays }: Evidence,
  byCall: ReadonlyMap<string, readonly MinedCall[]>,
  copied: ReadonlySet<string>,
): string[] {
  if (plan.faults.some(({ kind }) => MAY_BREAK_ORDER.has(kind) || (kind === 'reorganisation' && isDivided(plan))))
    return []
  return [...byCall.values()].flat().flatMap(({ outcome }) => {
    if (outcome.revertData !== INVALID_RELAY_NONCE || copied.has(outcome.call)) return []
    const call = calls.find(({ name }) => name === outcome.call)
    const isMissing = calls.some(({ name, plan: { profile, channel, id }, validUntil }) => {
      const own = byCall.get(name) ?? []
      const isBefore = profile === call?.plan.profile && channel === call.plan.channel && id < call.plan.id
      const hasReverted = own.some((one) => !one.outcome.succeeded && one.outcome.revertData !== INVALID_RELAY_NONCE)
      return isBefore && (hasReverted || validUntil !== undefined)
    })
    const isExecuted = (byCall.get(outcome.call) ?? []).some((one) => one.outcome.succeeded)
    const wasAcceptedAgain = relaysOf(outcome.call, relays).length > 1
    return isMissing || (isExecuted && wasAcceptedAgain)
      ? []
      : [`order: call ${call?.plan.number} reverted, since it was not next in its channel`]
  })
}

/**
 * Faults after which an account has to give calls up, so that later calls of their channels revert: somebody else uses its
 * nonce, it cannot pay, or the base fee rises above its fees. The base fee rises faster here than EIP-1559 allows.
 */
const MAY_BREAK_ORDER: ReadonlySet<string> = new Set(['steal', 'poor', 'fee'])
/** Whether servers have different keys. Then a channel may have calls in transactions of several accounts. */
const isDivided = ({ world }: Plan): boolean => world.lacking.some((account) => account !== null)

/** The parts of a transaction's calls add up to the gas of its receipt. No part exceeds the cost of the call alone. */
function auditParts(mined: readonly Mined[]): string[] {
  return mined.flatMap(({ receipt: { transaction, gasUsed, outcomes } }) => {
    if (outcomes.length === 0) return []
    const name = transaction.hash.slice(0, 10)
    const sum = outcomes.reduce((total, outcome) => total + outcome.gasUsed, 0n)
    const dear = outcomes.filter((outcome) => outcome.gasUsed > outcome.gasAlone)
    return [
      ...(sum === gasUsed ? [] : [`parts: those of ${name} are ${sum}, its receipt says ${gasUsed}`]),
      ...dear.map((one) => `parts: a call of ${name} takes ${one.gasUsed}, and would take ${one.gasAlone} alone`),
    ]
  })
}

/** The cost of gas for a profile, in the unit of its quota. */
function costsOf({ world: { quota } }: Plan) {
  const costOf = (gasUsed: bigint, gasPriceWei: bigint): bigint =>
    quota.model === 'gas' ? gasUsed : quota.model === 'lyx' ? gasUsed * gasPriceWei : 1n
  return {
    ofCall: ({ outcome, receipt }: MinedCall) => costOf(outcome.gasUsed, receipt.gasPriceWei),
    /** The cost of a call whose nonce is used up, when one transaction does so for several calls (`sharers`). */
    ofUse: ({ receipt: { gasUsed, gasPriceWei } }: Mined, sharers: number) => ({
      least: costOf(gasUsed / BigInt(sharers), gasPriceWei),
      most: costOf((gasUsed + BigInt(sharers) - 1n) / BigInt(sharers), gasPriceWei),
    }),
  }
}

/**
 * Whether a profile may have had too little quota when a reorganisation changed the cost of its calls, because other calls had
 * reserved the quota that was given back. No profile spends more than its quota, so the relay bears the difference.
 */
function mayBeShort(
  { plan, calls, relays, profiles }: Evidence,
  { profile, period }: Pick<Selectable<RelaysTable>, 'profile' | 'period'>,
): boolean {
  const own = calls.filter((call) => call.profile.address === profile)
  const isExceeded = own.some(({ heard }) =>
    heard.some((one) => one.kind === 'refused' && one.code === 'QUOTA_EXCEEDED'),
  )
  const reserved = relays
    .filter((one) => one.profile === profile && one.period === period)
    .reduce((sum, one) => sum + BigInt(one.reserved), 0n)
  const allowance = BigInt(profiles.find(({ address }) => address === profile)?.allowance ?? 0)
  return (isExceeded || reserved > allowance) && plan.faults.some(({ kind }) => kind === 'reorganisation')
}

const isAllReserved = (
  { world: { quota } }: Plan,
  { charged, reserved }: Pick<Selectable<RelaysTable>, 'charged' | 'reserved'>,
): boolean => quota.model === 'lyx' && charged === reserved

/**
 * Each relay is charged by its receipt. If fees were raised and the profile had no more quota to reserve, the relay is charged
 * all that was reserved, and the relay server bears the difference.
 */
function auditCharges(evidence: Evidence, mined: readonly Mined[]): string[] {
  const { plan, relays } = evidence
  const costs = costsOf(plan)
  const byHash = new Map(mined.map((one) => [one.receipt.transaction.hash, one]))
  const byMined = Map.groupBy(relays, ({ mined_hash }) => mined_hash)
  return relays.flatMap((relay) => {
    const { hash, mined_hash, charged, reserved } = relay
    const one = byHash.get(mined_hash ?? '')
    if (!one || charged === null) return []
    const { outcomes } = one.receipt
    const outcome = outcomes.find(({ call }) => call.startsWith(callOf(relay)))
    const exact = outcome ? costs.ofCall({ ...one, outcome }) : 0n
    const isUsedUp = outcomes.length === 0 && BigInt(charged) > 0n
    const { least, most } = isUsedUp
      ? costs.ofUse(one, byMined.get(mined_hash)?.length ?? 1)
      : { least: exact, most: exact }
    const mayBeLess = isAllReserved(plan, { charged, reserved }) || mayBeShort(evidence, relay)
    return (BigInt(charged) >= least || mayBeLess) && BigInt(charged) <= most
      ? []
      : [`charges: ${hash.slice(0, 10)} is charged ${charged} of ${reserved}, its receipt says ${most}`]
  })
}

/** Each profile has used what its relays hold, which is what the receipts say, and never more than its allowance. */
function auditProfiles(
  evidence: Evidence,
  mined: readonly Mined[],
  byCall: ReadonlyMap<string, readonly MinedCall[]>,
): string[] {
  const { plan, calls, attempts, relays, profiles, isEnded } = evidence
  const costs = costsOf(plan)
  const firstOf = (hash: string) => attempts.find((attempt) => attempt.hash === hash)?.relay
  const byMined = Map.groupBy(relays, ({ mined_hash }) => mined_hash)
  const byFirst = Map.groupBy(relays, ({ hash, bundle }) => bundle ?? hash)
  return profiles.flatMap(({ address, used, allowance, period }) => {
    const all = relays.filter((relay) => relay.profile === address)
    const isOfPeriod = (relay: Selectable<RelaysTable>) => relay.period === period
    const held = all.filter(isOfPeriod)
    let [least, most] = [0n, 0n]
    for (const call of calls.filter(({ profile }) => profile.address === address)) {
      const accepted = relaysOf(call.name, all)
      // It was charged in an earlier period.
      if (accepted.length > 0 && !accepted.some(isOfPeriod)) continue
      const own = byCall.get(call.name) ?? []
      const succeeded = own.find(({ outcome }) => outcome.succeeded)
      const paid = (succeeded ? [succeeded] : own).map(costs.ofCall)
      // A call that reverted gave its nonce back, and may have been accepted again.
      const times = new Set(own.map(({ receipt }) => firstOf(receipt.transaction.hash))).size
      if (accepted.every(isOfPeriod)) least += paid.reduce((low, one) => min(low, one), paid[0] ?? 0n)
      most +=
        times < 2 ? paid.reduce((high, one) => max(high, one), 0n) : own.map(costs.ofCall).reduce((a, b) => a + b, 0n)
    }
    for (const one of mined.filter(({ receipt }) => receipt.outcomes.length === 0)) {
      const { hash } = one.receipt.transaction
      const sharers = byFirst.get(firstOf(hash) ?? '') ?? []
      for (const relay of sharers) {
        const { profile, expires_at } = relay
        if (profile !== address || expires_at === null || !isOfPeriod(relay)) continue
        most += costs.ofUse(one, byMined.get(hash)?.length ?? 1).most
        if (Number(expires_at) < (one.block.parent?.timestamp ?? 0)) least += costs.ofUse(one, sharers.length).least
      }
    }
    // See `auditCharges`.
    if (held.some((relay) => isAllReserved(plan, relay)) || mayBeShort(evidence, { profile: address, period }))
      least = 0n
    const heldAmount = held.reduce((sum, { charged, reserved }) => sum + BigInt(charged ?? reserved), 0n)
    const says = `${least}${most === least ? '' : ` to ${most}`}`
    return [
      ...(BigInt(used) > BigInt(allowance) ? [`quota: ${address.slice(0, 8)} has used ${used} of ${allowance}`] : []),
      ...(BigInt(used) === heldAmount
        ? []
        : [`books: ${address.slice(0, 8)} has used ${used}, and its relays hold ${heldAmount}`]),
      ...(isEnded && (BigInt(used) < least || BigInt(used) > most)
        ? [`charges: ${address.slice(0, 8)} is charged ${used}, the receipts say ${says}`]
        : []),
    ]
  })
}

const BUDGETS = ['all/3600', 'all/86400', 'unknown/3600', 'unknown/86400']

/** The gas limits of all calls of profiles that nobody registered are counted, and never exceed what they may use. */
function auditBudgets({ plan, relays, budgets }: Evidence): string[] {
  const most = BigInt(plan.world.unregisteredGas ?? 0)
  const gas = plan.world.unregisteredGas === null ? 0n : relays.reduce((sum, one) => sum + BigInt(one.gas_limit), 0n)
  // A server whose clock is behind may have counted in the hour before.
  const isSplit = plan.faults.some(({ kind }) => kind === 'clock')
  return BUDGETS.flatMap((scope) => {
    const used = BigInt(budgets.find((budget) => budget.scope === scope)?.used ?? 0)
    const isCounted = used === gas || (isSplit && used < gas)
    return [
      ...(isCounted ? [] : [`budgets: ${scope} has used ${used}, and its calls may use ${gas}`]),
      ...(scope === 'unknown/3600' && used > most ? [`budgets: ${scope} has used ${used} of ${most}`] : []),
    ]
  })
}

/** No call of a profile is accepted while the profile is suspended. */
function auditSuspensions({ plan, suspensions, relays }: Evidence): string[] {
  // Relays tell their time by the clock of the server.
  if (plan.faults.some(({ kind }) => kind === 'clock')) return []
  return suspensions.flatMap(({ profile, fromMs, toMs }) => {
    const isMeanwhile = ({ created_at_ms }: Selectable<RelaysTable>) => {
      const acceptedMs = Number(created_at_ms) - EPOCH_MS
      return acceptedMs > fromMs && acceptedMs < toMs
    }
    const accepted = relays.filter((relay) => relay.profile === profile && isMeanwhile(relay))
    return accepted.map(
      ({ hash }) => `suspended: ${hash.slice(0, 10)} of ${profile.slice(0, 8)} was accepted all the same`,
    )
  })
}
