import { ServiceError } from '../../core/errors.ts'
import type { Queries } from '../database/database.ts'
import { storeAttempt, type NewAttempt } from '../ledger/attempts.ts'
import { lookUp } from '../ledger/lookup.ts'
import { callDataOf, rawOf, type OpenAttempt, type OpenRelay, type TriedRelay } from '../ledger/open-relays.ts'
import { clearRefusals, noteRefusal, type Refusal } from '../ledger/refusals.ts'
import { isKeyManagerOf } from '../relayer/judge.ts'
import { laneKey } from '../relayer/lane.ts'
import { maxFeePerGas, type Fees } from '../../ethereum/sign-transaction.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'
import type { Ages } from './ages.ts'
import type { FollowerOptions, Head } from './follower-options.ts'

/** What is done about relays that are not mined. */
export interface Repairs {
  /**
   * Relays whose account nonce the chain has used, though none of their transactions is mined: something else took it.
   * They get another nonce if they can still be executed.
   *
   * @returns those that cannot: to be given up
   */
  replaceLost(account: string, relays: readonly OpenRelay[], chainNonce: number): Promise<string[]>
  /**
   * Relays that wait for their turn: sent again if no node has them, with higher fees if it takes too long. Where the node
   * keeps refusing the account's next transaction, its nonce is used up by one that does nothing, and the call is given up.
   */
  repairWaiting(
    account: string,
    relays: readonly TriedRelay[],
    at: { readonly head: Head; readonly chainNonce: number; readonly refusal: Refusal | undefined },
  ): Promise<void>
}

/** Gas of a transaction that does nothing but use its nonce up. */
const CANCEL_GAS = 21_000n
/** A call is given up after so many refusals, and some time: see `FollowerOptions.refusedAfterMs`. */
const GIVEN_UP_AFTER = 3
/** The most replacements in one look. */
const MAX_REPLACEMENTS = 16
/** How far before a call others of its channel may be pending. */
const MAX_BEFORE = 128n

export function createRepairs(options: FollowerOptions & { readonly ages: Ages }): Repairs {
  const { ages, chainId, database, upstream, broadcaster, simulator, fees, plans, signerOf, clock, log } = options
  /** For how long the account's next transaction has been refused, by the calendar or as this process has seen it. */
  function refusedForMs(account: string, refusal: Refusal | undefined): number {
    const seenForMs = ages.see(`refused: ${account}`, refusal ? [String(refusal.nonce)] : [])
    return refusal ? Math.max(clock.nowMs() - refusal.sinceMs, seenForMs(String(refusal.nonce))) : 0
  }

  /** Stores another attempt and sends it. @returns whether the node did not refuse it */
  async function attempt(db: Queries, attempt: NewAttempt): Promise<boolean> {
    const signed = await storeAttempt(db, attempt, { plans, nowMs: clock.nowMs() })
    return !signed || !(await broadcaster.send([signed])).isRefused
  }

  /** @returns whether the node did not refuse it */
  async function replace(
    relay: TriedRelay,
    signer: SignerAccount,
    kind: 'call' | 'cancel',
    wanted: Fees,
  ): Promise<boolean> {
    const data = kind === 'call' ? await callDataOf(database.db, relay.hash) : '0x'
    const account = signer.address
    return database.exclusively(laneKey(account), (db) =>
      attempt(db, {
        relay: relay.hash,
        kind,
        account,
        seenNonce: relay.accountNonce,
        nonce: relay.accountNonce,
        fees: wanted,
        sign: (nonce) =>
          signer.sign({
            chainId,
            nonce,
            data,
            fees: wanted,
            ...(kind === 'call'
              ? { to: relay.keyManager, gasLimit: relay.gasLimit }
              : { to: account, gasLimit: CANCEL_GAS }),
          }),
      }),
    )
  }

  /** Sends what no node has, and notes what became of the account's next transaction: the others wait behind it. */
  async function sendAgain(
    account: string,
    missing: readonly TriedRelay[],
    { chainNonce, refusal }: { readonly chainNonce: number; readonly refusal: Refusal | undefined },
  ): Promise<void> {
    const [first] = missing
    if (!first) return
    const { taken, isRefused } = await database.exclusively(laneKey(account), async (db) => {
      const hashes = missing.map((relay) => latest(relay).hash)
      const raws = await rawOf(db, hashes)
      return broadcaster.send(hashes.map((hash) => ({ hash, raw: raws.get(hash) ?? '0x' })))
    })
    if (first.accountNonce !== chainNonce) return
    if (taken > 0 && refusal) await clearRefusals(database.db, account)
    if (taken === 0 && isRefused) await noteRefusal(database.db, account, chainNonce, clock.nowMs())
  }

  /**
   * No node has the transaction, so nothing is to be outbid: what the chain asks for now, or null when that is no more
   * than was offered for the same thing. A balance may be too low for more.
   */
  async function feesForRefused(offered: Fees, isAnotherThing: boolean): Promise<Fees | null> {
    try {
      const current = await fees.current()
      return isAnotherThing || maxFeePerGas(current) > maxFeePerGas(offered) ? current : null
    } catch (error) {
      // The chain asks for more than the ceiling.
      if (error instanceof ServiceError && error.code === 'SIGNERS_UNAVAILABLE') return null
      throw error
    }
  }

  /** Whether a call would succeed now, after those before it in its channel. */
  async function isExecutable(relay: OpenRelay, callData: string): Promise<boolean> {
    const { profile, keyManager, signer, nonce } = relay
    const key = { profile, keyManager, signer, channel: nonce >> 128n }
    const [state] = await lookUp(database.db, [{ key, from: nonce - MAX_BEFORE, identities: [] }])
    const before = (state?.pending ?? []).filter((pending) => pending.nonce < nonce)
    const { calls, parties } = await simulator.simulate({
      pending: before.map((pending) => pending.callData),
      calls: [
        {
          profile,
          keyManager,
          signer,
          nonce,
          callData,
          nonceCallData: keyManagerCalls.getNonce(signer, key.channel),
        },
      ],
    })
    return calls[0]?.kind === 'succeeds' && isKeyManagerOf(relay, parties)
  }

  return {
    replaceLost: async (account, relays, chainNonce) => {
      const signer = signerOf(account)
      const lostForMs = ages.see(
        `lost: ${account}`,
        relays.map(({ hash, accountNonce }) => `${hash} ${accountNonce}`),
      )
      const surelyLost = relays.filter(
        ({ hash, accountNonce }) => lostForMs(`${hash} ${accountNonce}`) >= options.lostAfterMs,
      )

      const given: string[] = []
      // In the order of their channels, so that each finds those before it pending again.
      for (const relay of surelyLost.toSorted((one, other) => (one.nonce < other.nonce ? -1 : 1))) {
        // An abandoned relay wanted its nonce used up, and it is.
        const data = await callDataOf(database.db, relay.hash)
        if (relay.status === 'abandoned' || !signer || !(await isExecutable(relay, data))) {
          given.push(relay.hash)
          continue
        }
        const current = await fees.current()
        log.warn({ requestId: relay.requestId, relay: relay.hash }, 'nonce used by something else: another is taken')
        await database.exclusively(laneKey(account), (db) =>
          attempt(db, {
            relay: relay.hash,
            kind: 'call',
            account,
            seenNonce: relay.accountNonce,
            nonce: { notBelow: chainNonce },
            fees: current,
            sign: (nonce) =>
              signer.sign({
                chainId,
                nonce,
                to: relay.keyManager,
                gasLimit: relay.gasLimit,
                data,
                fees: current,
              }),
          }),
        )
      }
      return given
    },

    repairWaiting: async (account, relays, { head, chainNonce, refusal }) => {
      const seenForMs = ages.see(
        `waiting: ${account}`,
        relays.map((relay) => latest(relay).hash),
      )
      const refusedMs = refusedForMs(account, refusal)
      if (relays.length === 0) return
      const signer = signerOf(account)
      /** For how long its latest transaction has been there, by the calendar or as this process has seen it. */
      const ageMs = (relay: TriedRelay) => {
        const { hash, createdAtMs } = latest(relay)
        return Math.max(clock.nowMs() - createdAtMs, seenForMs(hash))
      }
      const known = Number(await upstream.request<string>('eth_getTransactionCount', [account, 'pending']))
      const missing = relays.filter((relay) => {
        const isOverdue = latest(relay).kind === 'call' && isOver(relay, head)
        const isMissing = relay.accountNonce >= known || relay.accountNonce === refusal?.nonce
        // Another process may be about to send what was stored just now.
        return isMissing && ageMs(relay) >= options.resendAfterMs && !isOverdue
      })
      await sendAgain(account, missing, { chainNonce, refusal })
      if (!signer) return

      const isGivenUp = ({ accountNonce }: OpenRelay) =>
        accountNonce === refusal?.nonce && refusal.count >= GIVEN_UP_AFTER && refusedMs >= options.refusedAfterMs
      const doomed = doomedOf(relays, { isGivenUp, isOver: (relay) => isOver(relay, head) })
      /** The node has nothing with its nonce: there is nothing to be outbid. */
      const isRefused = ({ accountNonce }: OpenRelay) =>
        accountNonce === refusal?.nonce && refusal.count > 1 && accountNonce >= known
      const stuck = relays.filter((relay) => {
        const isDoomed = latest(relay).kind === 'call' && doomed.has(relay.hash)
        return ageMs(relay) >= options.replaceAfterMs || isDoomed || isRefused(relay)
      })
      for (const relay of stuck.slice(0, MAX_REPLACEMENTS)) {
        const { kind: before, fees: offered } = latest(relay)
        const kind = doomed.has(relay.hash) || before === 'cancel' ? 'cancel' : 'call'
        const wanted = isRefused(relay) ? await feesForRefused(offered, kind !== before) : await fees.raised(offered)
        if (wanted === null) {
          if (!isRefused(relay)) {
            log.warn({ relay: relay.hash, signer: account }, 'a transaction is stuck, and its fee is at the ceiling')
          }
          continue
        }
        log.warn({ requestId: relay.requestId, relay: relay.hash, kind }, 'a transaction is replaced')
        const isTaken = await replace(relay, signer, kind, wanted)
        if (!isTaken && relay.accountNonce === chainNonce) {
          await noteRefusal(database.db, account, chainNonce, clock.nowMs())
        }
      }
    },
  }
}

/** Every relay has at least the attempt it was stored with. */
function latest(relay: TriedRelay): OpenAttempt {
  const last = relay.attempts.at(-1)
  if (!last) throw new Error(`${relay.hash} has no transaction`)
  return last
}

/**
 * The relays whose nonces are to be used up: those that are over, those that are given up, and what follows on these in
 * their channels, since it would only revert. What follows on one that is over reverts at the expense of its profile,
 * whose doing that is.
 */
function doomedOf(
  relays: readonly TriedRelay[],
  { isOver, isGivenUp }: Record<'isOver' | 'isGivenUp', (relay: TriedRelay) => boolean>,
): ReadonlySet<string> {
  const doomed = new Set<string>()
  const channels = new Set<string>()
  for (const relay of relays.toSorted((one, other) => (one.nonce < other.nonce ? -1 : 1))) {
    // One that is abandoned has made way for another one with the same nonce.
    if (relay.status !== 'pending') continue
    const channel = `${relay.keyManager}:${relay.signer}:${relay.nonce >> 128n}`
    if (isOver(relay)) doomed.add(relay.hash)
    else if (channels.has(channel) || latest(relay).kind === 'cancel' || isGivenUp(relay)) {
      channels.add(channel)
      doomed.add(relay.hash)
    }
  }
  return doomed
}

/** Whether the key manager would refuse it in the next block: it is too late. */
const isOver = ({ expiresAt }: OpenRelay, { timestamp }: Head) => expiresAt !== null && expiresAt < BigInt(timestamp)
