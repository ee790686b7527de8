import { type TriedRelay, rawOf, callDataOf, type OpenRelay } from '../ledger/open-relays.ts'
import { type Refusal, clearRefusals, noteRefusal } from '../ledger/signer-accounts.ts'
import { type Ages, type FollowerOptions, type Head, isOver, type Waiting } from './look.ts'
import { createAttempts, latest, carriedOf, groupsOf, type Attempts } from './attempts.ts'
import { accountKey } from '../relayer/account-queue.ts'
import { ServiceError } from '../../core/errors.ts'
import { maxFeePerGas, type Fees } from '../../ethereum/transaction.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'
import { lookUp } from '../ledger/lookup.ts'
import { isKeyManagerOf } from '../relayer/judge.ts'

/** What is done about relays that are not mined, in the order of this file. */
interface Repairs {
  readonly replaceLost: ReplaceLost
  /** Sends relays again that no node has, and replaces those that take too long or can no longer be executed. */
  repairWaiting(
    account: string,
    relays: readonly TriedRelay[],
    at: { readonly head: Head; readonly chainNonce: number; readonly refusal: Refusal | undefined },
  ): Promise<void>
}

export function createRepairs(options: FollowerOptions & { readonly ages: Ages }): Repairs {
  const { ages, upstream, clock, log } = options
  const attempts = createAttempts(options)

  /** For how long the account's next transaction has been refused: by the clock, or by what this process has seen. */
  function refusedForMs(account: string, refusal: Refusal | undefined): number {
    const seenForMs = ages.see(`refused: ${account}`, refusal ? [String(refusal.nonce)] : [])
    return refusal ? Math.max(clock.nowMs() - refusal.sinceMs, seenForMs(String(refusal.nonce))) : 0
  }

  return {
    replaceLost: createReplaceLost({ ...options, attempts }),
    repairWaiting: async (account, relays, at) => {
      const hashes = relays.map((relay) => latest(relay).hash)
      const seenForMs = ages.see(`waiting: ${account}`, hashes)
      const seenForBlocks = ages.see(`waiting for a block: ${account}`, hashes, at.head.number)
      const refusedMs = refusedForMs(account, at.refusal)
      if (relays.length === 0) return
      const waiting = {
        ...at,
        account,
        relays,
        knownNonce: Number(await upstream.request<string>('eth_getTransactionCount', [account, 'pending'])),
        refusedForMs: refusedMs,
        ageMs: (relay: TriedRelay) => {
          const { hash, createdAtMs } = latest(relay)
          return Math.max(clock.nowMs() - createdAtMs, seenForMs(hash))
        },
        ageBlocks: (relay: TriedRelay) => seenForBlocks(latest(relay).hash),
      }
      await sendMissing(waiting, options)
      const atCeiling = await replaceStuck(waiting, attempts, options)
      const atCeilingForMs = ages.see(`at the ceiling: ${account}`, atCeiling)
      // An account is looked at each second, and the chain may ask for more than the ceiling for hours.
      for (const relay of atCeiling.filter((hash) => atCeilingForMs(hash) === 0)) {
        log.warn({ relay, signer: account }, 'a transaction is stuck, and its fee is at the ceiling')
      }
    },
  }
}

/**
 * Sends again what no node has. It notes whether the node takes the account's next transaction, for which all others wait.
 * A call that has expired is not sent again: `replaceStuck` uses up its nonce.
 */
export async function sendMissing(waiting: Waiting, options: FollowerOptions): Promise<void> {
  const { database, broadcaster, clock, resendAfterMs } = options
  const { account, chainNonce, refusal } = waiting
  const missing = groupsOf(waiting.relays)
    .filter((group) => isMissing(group, waiting) && waiting.ageMs(group[0]) >= resendAfterMs)
    .map(([relay]) => relay)
  const [first] = missing
  if (!first) return
  const { taken, isRefused } = await database.exclusively(accountKey(account), async (db) => {
    const hashes = missing.map((relay) => latest(relay).hash)
    const raws = await rawOf(db, hashes)
    return broadcaster.send(hashes.map((hash) => ({ hash, raw: raws.get(hash) ?? '0x' })))
  })
  if (first.accountNonce !== chainNonce) return
  if (taken > 0 && refusal) await clearRefusals(database.db, account)
  if (taken === 0 && isRefused) await noteRefusal(database.db, account, chainNonce, clock.nowMs())
}

function isMissing(group: [TriedRelay, ...TriedRelay[]], { knownNonce, refusal, head }: Waiting): boolean {
  const [{ accountNonce }] = group
  const isUnknown = accountNonce >= knownNonce || accountNonce === refusal?.nonce
  const isOverdue = carriedOf(group).every((relay) => latest(relay).kind === 'call' && isOver(relay, head))
  return isUnknown && !isOverdue
}

/** A call is given up after so many refusals, when `FollowerOptions.refusedAfterMs` is over, too. */
const GIVEN_UP_AFTER = 3
/** The most replacements in one look. */
const MAX_REPLACEMENTS = 16

/**
 * Signs transactions with higher fees for calls that take too long, and uses up the nonces of calls that can no longer be
 * executed. When the node keeps refusing the account's next transaction, its call is given up, too.
 *
 * @returns the hashes of the relays whose fees cannot be raised, because they are at the ceiling
 */
export async function replaceStuck(
  waiting: Waiting,
  attempts: Attempts,
  options: FollowerOptions,
): Promise<readonly string[]> {
  const { database, signerOf, clock, log, replaceAfterMs } = options
  const { account, relays, chainNonce } = waiting
  const signer = signerOf(account)
  if (!signer) return []
  const doomed = doomedOf(waiting, options)
  const isDropped = (relay: TriedRelay) => doomed.has(relay.hash) || latest(relay).kind === 'cancel'
  const stuck = groupsOf(relays).filter((group) => {
    const isDoomed = group.some((relay) => latest(relay).kind === 'call' && doomed.has(relay.hash))
    const [relay] = group
    const isLate = waiting.ageMs(relay) >= replaceAfterMs && !isUseless(relay, waiting)
    return isLate || isDoomed || isRefused(relay, waiting)
  })
  const atCeiling: string[] = []
  for (const group of stuck.slice(0, MAX_REPLACEMENTS)) {
    const [relay] = group
    const carried = group.filter((one) => !isDropped(one))
    const isAnotherThing = carried.length < group.filter((one) => latest(one).kind === 'call').length
    const fees = await feesFor(relay, isAnotherThing, waiting, options)
    if (fees === null) {
      if (!isRefused(relay, waiting)) atCeiling.push(relay.hash)
      continue
    }
    const kind = carried.length > 0 ? 'call' : 'cancel'
    for (const { requestId, hash } of group) log.warn({ requestId, relay: hash, kind }, 'a transaction is replaced')
    const isTaken = await attempts.replace({ relays: group, carried }, signer, fees)
    if (!isTaken && relay.accountNonce === chainNonce) {
      await noteRefusal(database.db, account, chainNonce, clock.nowMs())
    }
  }
  return atCeiling
}

/** While the chain stands still, higher fees would help nobody, and be paid when it goes on. They are raised once at most. */
const isUseless = (relay: TriedRelay, { ageBlocks }: Waiting) => relay.attempts.length > 1 && ageBlocks(relay) < 1

/** The node has no transaction with the relay's nonce and refuses ours, so there is nothing to outbid. */
const isRefused = ({ accountNonce }: TriedRelay, { refusal, knownNonce }: Waiting) =>
  accountNonce === refusal?.nonce && refusal.count > 1 && accountNonce >= knownNonce

/** @returns the fees of the next transaction; null: they would be no higher than before, so that it would be useless */
async function feesFor(
  relay: TriedRelay,
  isAnotherThing: boolean,
  waiting: Waiting,
  { fees }: FollowerOptions,
): Promise<Fees | null> {
  const { fees: offered } = latest(relay)
  return isRefused(relay, waiting) ? feesForRefused(offered, isAnotherThing, fees) : fees.raised(offered)
}

/**
 * No node has the transaction, so there is nothing to outbid, and the account's balance may be too low for higher fees.
 *
 * @returns the fees that the chain asks for now; null when the same transaction has offered as much already
 */
async function feesForRefused(
  offered: Fees,
  isAnotherThing: boolean,
  fees: FollowerOptions['fees'],
): Promise<Fees | null> {
  try {
    const current = await fees.current()
    return isAnotherThing || maxFeePerGas(current) > maxFeePerGas(offered) ? current : null
  } catch (error) {
    // The chain asks for higher fees than the configured ceiling.
    if (error instanceof ServiceError && error.code === 'SIGNERS_UNAVAILABLE') return null
    throw error
  }
}

/**
 * The relays whose nonces are to be used up: those that have expired, those that are given up, and those that follow on a
 * given-up one in its channel, because they could only revert. A relay that follows on an expired one is not listed: it
 * reverts, and its profile, which has set the validity window, pays for that.
 */
function doomedOf(
  { relays, head, refusal, refusedForMs }: Waiting,
  { refusedAfterMs }: FollowerOptions,
): ReadonlySet<string> {
  const isGivenUp = ({ accountNonce }: TriedRelay) =>
    accountNonce === refusal?.nonce && refusal.count >= GIVEN_UP_AFTER && refusedForMs >= refusedAfterMs
  const doomed = new Set<string>()
  const channels = new Set<string>()
  // A bundle has expired when all that it carries has. Until then only the expired calls fail in it.
  const over = new Set(
    groupsOf(relays).flatMap((group) => (carriedOf(group).every((one) => isOver(one, head)) ? group : [])),
  )
  for (const relay of relays.toSorted((one, other) => (one.nonce < other.nonce ? -1 : 1))) {
    // An abandoned relay counts for nothing in its channel: another call may have its place by now.
    if (relay.status !== 'pending') continue
    const channel = `${relay.keyManager}:${relay.signer}:${relay.nonce >> 128n}`
    if (over.has(relay)) doomed.add(relay.hash)
    else if (channels.has(channel) || latest(relay).kind === 'cancel' || isGivenUp(relay)) {
      channels.add(channel)
      doomed.add(relay.hash)
    }
  }
  return doomed
}

/**
 * Something else has used the account nonces of these relays: the chain is past them, and none of their transactions is
 * mined. A relay that can still be executed is signed again with another nonce.
 *
 * @returns the relays that cannot be executed, which the caller has to give up
 */
type ReplaceLost = (account: string, relays: readonly OpenRelay[], chainNonce: number) => Promise<OpenRelay[]>

type ReplaceLostOptions = Pick<
  FollowerOptions,
  'database' | 'simulator' | 'fees' | 'signerOf' | 'log' | 'lostAfterMs'
> & { readonly ages: Ages; readonly attempts: Attempts }

/** A process without the account's key waits so many times as long: one that has the key can sign the call again. */
const TIMES_WITHOUT_KEY = 12
/** So many nonces before a call, pending calls of its channel are looked for. */
const MAX_BEFORE = 128n

/**
 * In the order of the calls' nonces, so that each call finds those before it in its channel pending again. With bundles, whose
 * calls are of several channels, in the order of the account's nonces: that was the order of the channels when the bundles
 * were stored.
 */
function inOrder(groups: readonly [OpenRelay, ...OpenRelay[]][]): readonly [OpenRelay, ...OpenRelay[]][] {
  if (groups.some(([{ place }]) => place !== null)) {
    return groups.toSorted(([one], [other]) => one.accountNonce - other.accountNonce)
  }
  return groups.toSorted(([one], [other]) => (one.nonce < other.nonce ? -1 : 1))
}

function createReplaceLost(options: ReplaceLostOptions): ReplaceLost {
  const { database, simulator, fees, signerOf, log, lostAfterMs, ages, attempts } = options

  /** Whether a call would succeed now, after those before it in its channel. */
  async function isExecutable(relay: OpenRelay): Promise<boolean> {
    const { profile, keyManager, signer, nonce } = relay
    const key = { profile, keyManager, signer, channel: nonce >> 128n }
    const [state] = await lookUp(database.db, [{ key, from: nonce - MAX_BEFORE, identities: [] }])
    const before = (state?.pending ?? []).filter((pending) => pending.nonce < nonce)
    const callData = await callDataOf(database.db, relay)
    const nonceCallData = keyManagerCalls.getNonce(signer, key.channel)
    const { calls, parties } = await simulator.simulate({
      pending: before.map((pending) => pending.callData),
      calls: [{ profile, keyManager, signer, nonce, callData, nonceCallData }],
    })
    return calls[0]?.kind === 'succeeds' && isKeyManagerOf(relay, parties)
  }

  return async (account, relays, chainNonce) => {
    // A relay that has got another account nonce may lose that one, too, and then its time begins again.
    const nameOf = ({ hash, accountNonce }: OpenRelay) => `${hash} ${accountNonce}`
    const lostForMs = ages.see(`lost: ${account}`, relays.map(nameOf))
    const signer = signerOf(account)
    const afterMs = signer ? lostAfterMs : lostAfterMs * TIMES_WITHOUT_KEY
    const lost = relays.filter((relay) => lostForMs(nameOf(relay)) >= afterMs)
    const given: OpenRelay[] = []
    for (const relays of inOrder(groupsOf(lost))) {
      const carried: OpenRelay[] = []
      for (const relay of relays) {
        // An abandoned relay only needed its nonce used up, and something else has done that.
        const isGiven = relay.status === 'abandoned' || !signer || !(await isExecutable(relay))
        if (isGiven) given.push(relay)
        else carried.push(relay)
      }
      if (!signer || carried.length === 0) continue
      for (const { requestId, hash } of carried) {
        log.warn({ requestId, relay: hash }, 'nonce used by something else: another is taken')
      }
      await attempts.renew({ relays, carried }, signer, await fees.current(), chainNonce)
    }
    return given
  }
}
