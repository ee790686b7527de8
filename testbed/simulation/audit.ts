import type { Selectable } from 'kysely'
import type { Quota } from '../../server/core/define.ts'
import type {
  AttemptsTable,
  ProfilesTable,
  RelaysTable,
  SignerAccountsTable,
} from '../../server/services/database/tables.ts'
import { nextNonceState, type NonceState } from '../../server/services/ledger/lifecycle.ts'
import type { TransactionStatus } from '../../specs/index.ts'
import { errorCatalogue } from '../../specs/index.ts'
import type { SignedCall } from './callers.ts'
import { receiptsUpTo, type Block, type Receipt, type SimulatedChain, type Transaction } from './chain.ts'
import type { Plan } from './plan.ts'

/** All that is known of a run when it is over. */
export interface Evidence {
  readonly plan: Plan
  readonly calls: readonly SignedCall[]
  readonly chain: SimulatedChain
  /** What servers have sent to nodes, in the order of its coming there. */
  readonly sent: SentTransaction[]
  /** The accounts that pay. */
  readonly addresses: readonly string[]
  /** Whether everything came to its end in time. */
  readonly isEnded: boolean
  /** Callers that still wait for a last answer. */
  readonly unanswered: number
  /** What a server answers in the end; undefined: none does. */
  readonly ledger:
    | {
        readonly statuses: ReadonlyMap<string, TransactionStatus | undefined>
        readonly quotas: ReadonlyMap<string, Quota>
      }
    | undefined
  /** The most timers and answers that a server waits for in the end. */
  readonly planned: number
  /** The rows of the ledger, to say in more words what is wrong, and whose nonces were used up. */
  readonly accounts: readonly Selectable<SignerAccountsTable>[]
  readonly open: readonly Selectable<RelaysTable>[]
  readonly relays: readonly Selectable<RelaysTable>[]
  readonly attempts: readonly Selectable<AttemptsTable>[]
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

/** Timers of a server that has nothing to do: the sweep and the poll of its jobs, the upkeep of connections. */
const MOST_PLANNED = 12

/** @returns what was promised and not kept, one line each */
export function audit(evidence: Evidence): string[] {
  const mined = receiptsUpTo(evidence.chain.head)
  return [
    ...auditLiveness(evidence),
    ...evidence.calls.flatMap((call) => auditCall(call, mined, evidence)),
    ...auditNonces(evidence),
    ...auditOrder(evidence, mined),
    ...auditCharges(evidence, mined),
  ]
}

/** When faults end, everything ends; and what remains in memory is what a server needs that has nothing to do. */
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

/** What a profile may have brought on itself. */
const LIMITS: ReadonlySet<string> = new Set(['QUOTA_EXCEEDED', 'RATE_LIMITED'])

function auditCall(call: SignedCall, mined: readonly Mined[], evidence: Evidence): string[] {
  const { ledger } = evidence
  const name = `call ${call.plan.number}`
  const faults: string[] = []
  const executed = mined.filter(({ receipt }) => receipt.executed === call.name).length
  const reverted = mined.filter(({ receipt }) => receipt.transaction.call === call.name && !receipt.succeeded).length
  if (executed > 1) faults.push(`once: ${name} was executed ${executed} times`)
  const hashes = [...new Set(call.heard.flatMap((one) => (one.kind === 'accepted' ? [one.hash] : [])))]
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
  for (const hash of hashes) {
    const status = ledger.statuses.get(hash)?.status
    const told = `${name}, accepted as ${hash.slice(0, 10)}, is told to be ${status ?? 'unknown'}`
    const isTrue =
      status === 'succeeded'
        ? executed === 1
        : status === 'reverted'
          ? reverted > 0 && (executed === 0 || hashes.length > 1)
          : status === 'abandoned'
            ? executed === 0 || hashes.length > 1
            : status === 'pending' && !evidence.isEnded
    if (!isTrue) faults.push(`told: ${told}; it was executed ${executed} times, and reverted ${reverted} times`)
  }
  const live = hashes.filter((hash) => !['reverted', 'abandoned'].includes(ledger.statuses.get(hash)?.status ?? ''))
  if (live.length > 1)
    faults.push(`same: ${name} was accepted as ${live.map((hash) => hash.slice(0, 10)).join(' and ')}`)
  return faults
}

/** What a nonce of an account carries, as the nodes see it, and whether each comes to be used. */
function auditNonces({ sent, chain, addresses, isEnded }: Evidence): string[] {
  const faults: string[] = []
  const lives = new Map<string, { state: NonceState; call: string | undefined; readonly hashes: Set<string> }>()
  for (const { transaction } of sent) {
    const { from, nonce, call, hash } = transaction
    const name = `${nonce} of ${from.slice(0, 8)}`
    const life = lives.get(`${from}/${nonce}`) ?? { state: 'free', call, hashes: new Set() }
    lives.set(`${from}/${nonce}`, life)
    // The same bytes again are no other transaction.
    if (life.hashes.has(hash)) continue
    if (life.call !== undefined && call !== undefined && life.call !== call)
      faults.push(`nonce: ${name} was used for two calls`)
    life.hashes.add(hash)
    life.call ??= call
    try {
      // What was signed first was perhaps never sent.
      if (life.state === 'free') life.state = nextNonceState('free', 'signed')
      else if (call !== undefined) life.state = nextNonceState(life.state, 'replaced')
      if (call === undefined) life.state = nextNonceState(life.state, 'cancelled')
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

/** What revert data begins with when the nonce of a relay call is not the next one. */
const INVALID_RELAY_NONCE = '0xc9bd9eb9'

/**
 * Calls of a channel are executed in their order: none reverts since the one before it is missing. The one before it may
 * be missing for good: it reverts, or its time has run out, which is its profile's doing.
 */
function auditOrder({ plan, calls }: Evidence, mined: readonly Mined[]): string[] {
  if (plan.faults.some(({ kind }) => MAY_BREAK_ORDER.has(kind))) return []
  return mined.flatMap(({ receipt }) => {
    if (receipt.revertData !== INVALID_RELAY_NONCE) return []
    const call = calls.find(({ name }) => name === receipt.transaction.call)
    const isMissing = calls.some(({ name, plan: { profile, channel, id }, validUntil }) => {
      const own = mined.filter((one) => one.receipt.transaction.call === name)
      const isBefore = profile === call?.plan.profile && channel === call.plan.channel && id < call.plan.id
      const hasReverted = own.some((one) => one.receipt.revertData === REVERTED_BY_ITSELF)
      return isBefore && (hasReverted || validUntil !== undefined)
    })
    return isMissing ? [] : [`order: call ${call?.plan.number} reverted, since it was not next in its channel`]
  })
}

/** An account whose nonce somebody else takes, or who cannot pay, has to give calls up, and others follow on them. */
const MAY_BREAK_ORDER: ReadonlySet<string> = new Set(['steal', 'poor'])
/** What the payload of a simulated call reverts with. */
const REVERTED_BY_ITSELF = '0x'

/** What profiles are charged is what the receipts say, and never more than they may use. */
function auditCharges(evidence: Evidence, mined: readonly Mined[]): string[] {
  const { plan, calls, attempts, relays, profiles } = evidence
  const faults: string[] = []
  const cost = ({ receipt: { gasUsed, gasPriceWei } }: Mined): bigint =>
    plan.world.quota.model === 'gas' ? gasUsed : plan.world.quota.model === 'lyx' ? gasUsed * gasPriceWei : 1n
  // Deeper than what is held to be final nothing is charged anew.
  const isDeep = plan.faults.some((fault) => fault.kind === 'reorganisation' && fault.depth > plan.world.confirmations)
  if (isDeep) return faults
  for (const { hash, mined_hash, charged, reserved } of relays) {
    const one = mined.find(({ receipt }) => receipt.transaction.hash === mined_hash)
    if (
      !one ||
      charged === null ||
      BigInt(charged) === cost(one) ||
      (one.receipt.transaction.call === undefined && BigInt(charged) === 0n)
    )
      continue
    faults.push(`charges: ${hash.slice(0, 10)} is charged ${charged} of ${reserved}, its receipt says ${cost(one)}`)
  }
  for (const { address, used, allowance } of profiles) {
    if (BigInt(used) > BigInt(allowance)) faults.push(`quota: ${address.slice(0, 8)} has used ${used} of ${allowance}`)
    let [least, most] = [0n, 0n]
    for (const call of calls.filter(({ profile }) => profile.address === address)) {
      const own = mined.filter(({ receipt }) => receipt.transaction.call === call.name)
      const succeeded = own.find(({ receipt }) => receipt.succeeded)
      const costs = (succeeded ? [succeeded] : own).map(cost)
      // One that reverted gave its nonce back, and may have been accepted anew.
      const times = new Set(own.map(({ receipt }) => relayOf(receipt.transaction.hash))).size
      least +=
        succeeded && times < 2 ? (costs[0] ?? 0n) : costs.reduce((low, one) => (one < low ? one : low), costs[0] ?? 0n)
      most +=
        times < 2
          ? costs.reduce((high, one) => (one > high ? one : high), 0n)
          : own.map(cost).reduce((a, b) => a + b, 0n)
    }
    for (const one of mined.filter(({ receipt }) => receipt.transaction.call === undefined)) {
      const relay = relays.find(({ hash }) => hash === relayOf(one.receipt.transaction.hash))
      if (relay?.profile !== address || relay.expires_at === null) continue
      most += cost(one)
      if (Number(relay.expires_at) < (one.block.parent?.timestamp ?? 0)) least += cost(one)
    }
    if (evidence.isEnded && (BigInt(used) < least || BigInt(used) > most))
      faults.push(
        `charges: ${address.slice(0, 8)} is charged ${used}, the receipts say ${least}${most === least ? '' : ` to ${most}`}`,
      )
  }
  return faults

  function relayOf(hash: string): string | undefined {
    return attempts.find((attempt) => attempt.hash === hash)?.relay
  }
}
