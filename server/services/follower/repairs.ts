import { lookUp } from '../ledger/lookup.ts'
import { storeAttempt, type NewAttempt } from '../ledger/attempts.ts'
import { callDataOf, rawOf, type OpenAttempt, type OpenRelay, type TriedRelay } from '../ledger/open-relays.ts'
import { isKeyManagerOf } from '../relayer/judge.ts'
import { laneKey } from '../relayer/lane.ts'
import { keyManagerCalls } from '../simulator/contracts.ts'
import type { Queries } from '../database/database.ts'
import type { FollowerOptions, Head } from './follower.ts'

/** What is done about relays that are not mined. */
export interface Repairs {
  /**
   * Relays whose account nonce the chain has used, though none of their transactions is mined: something else took it.
   * They get another nonce if they can still be executed.
   *
   * @returns those that cannot: to be given up
   */
  replaceLost(account: string, relays: readonly OpenRelay[], chainNonce: number): Promise<string[]>
  /** Relays that wait for their turn: sent again if no node has them, with higher fees if it takes too long. */
  repairWaiting(
    account: string,
    relays: readonly TriedRelay[],
    at: { readonly head: Head; readonly chainNonce: number },
  ): Promise<void>
}

/** Gas of a transaction that does nothing but use its nonce up. */
const CANCEL_GAS = 21_000n
/** The most replacements in one look. */
const MAX_REPLACEMENTS = 16
/** How far before a call others of its channel may be pending. */
const MAX_BEFORE = 128n

export function createRepairs(options: FollowerOptions): Repairs {
  const { chainId, database, upstream, broadcaster, simulator, fees, plans, signerOf, clock, log } = options
  /** By account: when each of its relays was first seen without its nonce. */
  const lostSinceMs = new Map<string, ReadonlyMap<string, number>>()

  /** Stores another attempt and sends it. */
  async function attempt(db: Queries, attempt: NewAttempt): Promise<void> {
    const signed = await storeAttempt(db, attempt, { plans, nowMs: clock.nowMs() })
    if (signed) await broadcaster.send([signed])
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
      const nowMs = clock.nowMs()
      const before = lostSinceMs.get(account)
      const since = new Map(relays.map(({ hash }) => [hash, before?.get(hash) ?? nowMs]))
      const surelyLost = relays.filter(({ hash }) => nowMs - (since.get(hash) ?? nowMs) >= options.lostAfterMs)
      for (const { hash } of surelyLost) since.delete(hash)
      lostSinceMs.set(account, since)

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

    repairWaiting: async (account, relays, { head }) => {
      if (relays.length === 0) return
      const signer = signerOf(account)
      // Another process may be about to send what was stored just now.
      const settledMs = clock.nowMs() - options.resendAfterMs
      const known = Number(await upstream.request<string>('eth_getTransactionCount', [account, 'pending']))
      const missing = relays.filter((relay) => {
        const { kind, createdAtMs } = latest(relay)
        const isOverdue = kind === 'call' && isOver(relay, head)
        return relay.accountNonce >= known && createdAtMs <= settledMs && !isOverdue
      })
      if (missing.length > 0) {
        await database.exclusively(laneKey(account), async (db) => {
          const raws = await rawOf(
            db,
            missing.map((relay) => latest(relay).hash),
          )
          const unsent = missing.map((relay) => ({
            hash: latest(relay).hash,
            raw: raws.get(latest(relay).hash) ?? '0x',
          }))
          await broadcaster.send(unsent)
        })
      }
      if (!signer) return

      const stuckMs = clock.nowMs() - options.replaceAfterMs
      const stuck = relays.filter((relay) => {
        const { kind, createdAtMs } = latest(relay)
        return createdAtMs <= stuckMs || (kind === 'call' && isOver(relay, head))
      })
      for (const relay of stuck.slice(0, MAX_REPLACEMENTS)) {
        const raised = await fees.raised(latest(relay).fees)
        if (raised === null) {
          log.warn({ relay: relay.hash, signer: account }, 'a transaction is stuck, and its fee is at the ceiling')
          continue
        }
        const kind = isOver(relay, head) || latest(relay).kind === 'cancel' ? 'cancel' : 'call'
        log.warn({ requestId: relay.requestId, relay: relay.hash, kind }, 'a transaction is replaced')
        const data = kind === 'call' ? await callDataOf(database.db, relay.hash) : '0x'
        await database.exclusively(laneKey(account), (db) =>
          attempt(db, {
            relay: relay.hash,
            kind,
            account,
            nonce: relay.accountNonce,
            fees: raised,
            sign: (nonce) =>
              signer.sign({
                chainId,
                nonce,
                data,
                fees: raised,
                ...(kind === 'call'
                  ? { to: relay.keyManager, gasLimit: relay.gasLimit }
                  : { to: account, gasLimit: CANCEL_GAS }),
              }),
          }),
        )
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

/** Whether the key manager would refuse it in the next block: it is too late. */
const isOver = ({ expiresAt }: OpenRelay, { timestamp }: Head) => expiresAt !== null && expiresAt < BigInt(timestamp)
