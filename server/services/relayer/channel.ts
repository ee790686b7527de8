import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import type { ChannelKey, ChannelQuestion, ChannelState } from '../ledger/lookup.ts'
import type { ChannelResult, ChannelRun } from '../simulator/simulator.ts'
import { judgeCall, judgeSigner } from './judge.ts'

/** A call that waits for its answer. */
export interface Entry {
  readonly call: RelayCall
  readonly identity: string
  resolve(transactionHash: string): void
  reject(error: unknown): void
}

/** A call that succeeds in the simulation. */
export interface SimulatedEntry {
  readonly entry: Entry
  /** Of the whole transaction, without padding. */
  readonly gas: bigint
}

export interface ChannelOptions {
  readonly key: ChannelKey
  readonly clock: Clock
  /** How long a call waits for the one before it. */
  readonly gapGraceMs: number
  lookUp(question: ChannelQuestion): Promise<ChannelState>
  /** @throws ServiceError PROFILE_NOT_REGISTERED */
  assertServed(state: ChannelState): void
  simulate(run: ChannelRun): Promise<ChannelResult>
  /** @throws ServiceError when the call must be refused; StaleProfileError when the profile has changed hands */
  explainSigner(call: RelayCall): Promise<never>
  /**
   * Stores and sends calls, and answers their entries.
   *
   * @returns once they are stored; those whose predecessor was refused come back
   */
  dispatch(run: readonly SimulatedEntry[], preferredAccount: string | undefined): Promise<readonly Entry[]>
  /** Called when nobody waits any more. */
  onEmpty(): void
}

interface WaitingEntry extends Entry {
  /** Until when it waits for the one before it. */
  readonly deadlineMs: number
}

/** The most calls of one channel that may be pending: each new one is simulated on top of them. */
const MAX_PENDING = 128
/** The most calls that one simulation adds. */
const MAX_RUN = 16
const RETRY_SECONDS = 2

/**
 * The calls of one (key manager, signer, channel). They are tried and stored in nonce order, whatever the order in
 * which they came; a call ahead of its turn waits a little for those before it. Different channels know nothing of
 * each other.
 */
export class Channel {
  readonly #options: ChannelOptions
  #entries: WaitingEntry[] = []
  #busy = false
  #wake: (() => void) | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  add(entry: Entry): void {
    const { clock, gapGraceMs } = this.#options
    this.#entries.push({ ...entry, deadlineMs: clock.nowMs() + gapGraceMs })
    this.#wake?.()
    if (!this.#busy) void this.#work()
  }

  async #work(): Promise<void> {
    this.#busy = true
    while (this.#entries.length > 0) {
      try {
        await this.#turn()
      } catch (error) {
        this.#answer(this.#entries, (entry) => entry.reject(error))
      }
    }
    this.#busy = false
    this.#options.onEmpty()
  }

  async #turn(): Promise<void> {
    const { key, clock } = this.#options
    const startedMs = clock.nowMs()
    const entries = [...this.#entries].sort((one, other) => (one.call.nonce < other.call.nonce ? -1 : 1))
    const state = await this.#options.lookUp({ key, identities: entries.map(({ identity }) => identity) })
    const open = this.#answerFromLedger(entries, state)
    const [lowest] = open
    if (!lowest) return

    const { pending } = state
    const last = pending.at(-1)
    if (last !== undefined && lowest.call.nonce !== last.nonce + 1n) {
      return this.#waitForPredecessor(open, last.nonce + 1n, startedMs)
    }
    if (pending.length >= MAX_PENDING) {
      const reason = `${pending.length} calls of this channel wait to be mined`
      this.#answer(open, ({ reject }) => reject(rateLimited(reason)))
      return
    }
    const run = consecutive(open).slice(0, Math.min(MAX_RUN, MAX_PENDING - pending.length))
    const result = await this.#options.simulate({
      pending: pending.map(({ callData }) => callData),
      calls: run.map(({ call }) => call),
    })
    await judgeSigner(lowest.call, result, this.#options.explainSigner)
    if (lowest.call.nonce < result.nonce) {
      const used = open.filter(({ call }) => call.nonce < result.nonce)
      this.#answer(used, ({ reject }) => reject(nonceUsed(result.nonce)))
      return
    }
    if (last === undefined && lowest.call.nonce > result.nonce) {
      return this.#waitForPredecessor(open, result.nonce, startedMs)
    }
    await this.#dispatch(run, result, last?.account)
  }

  /** Answers what the ledger alone decides. @returns the rest, in nonce order */
  #answerFromLedger(entries: WaitingEntry[], state: ChannelState): WaitingEntry[] {
    const { known, pending } = state
    this.#answer(
      entries.filter(({ identity }) => known.has(identity)),
      ({ identity, resolve }) => resolve(known.get(identity) ?? ''),
    )
    const fresh = entries.filter(({ identity }) => !known.has(identity))
    try {
      if (fresh.length > 0) this.#options.assertServed(state)
    } catch (error) {
      this.#answer(fresh, ({ reject }) => reject(error))
      return []
    }
    const last = pending.at(-1)
    if (last === undefined) return fresh
    const taken = new Set(pending.map(({ nonce }) => nonce))
    this.#answer(
      fresh.filter(({ call }) => call.nonce <= last.nonce),
      ({ call, reject }) => reject(taken.has(call.nonce) ? nonceConflict(last.nonce + 1n) : nonceUsed(last.nonce + 1n)),
    )
    return fresh.filter(({ call }) => call.nonce > last.nonce)
  }

  async #dispatch(run: WaitingEntry[], result: ChannelResult, account: string | undefined): Promise<void> {
    const accepted: SimulatedEntry[] = []
    for (const [index, entry] of run.entries()) {
      const outcome = judgeCall(result.calls[index])
      if (outcome instanceof ServiceError) {
        this.#answer([entry], ({ reject }) => reject(outcome))
        break
      }
      accepted.push({ entry, gas: outcome })
    }
    if (accepted.length === 0) return
    const orphaned = new Set(await this.#options.dispatch(accepted, account))
    const through = new Set(accepted.map(({ entry }) => entry).filter((entry) => !orphaned.has(entry)))
    this.#entries = this.#entries.filter((entry) => !through.has(entry))
  }

  /** Waits until another call comes, or the first one has waited long enough. */
  async #waitForPredecessor(open: WaitingEntry[], expected: bigint, startedMs: number): Promise<void> {
    const late = open.filter(({ deadlineMs }) => deadlineMs <= startedMs)
    this.#answer(late, ({ call, reject }) => reject(nonceGap(expected, call.nonce)))
    const rest = open.filter(({ deadlineMs }) => deadlineMs > startedMs)
    if (rest.length === 0 || rest.length < this.#entries.length) return
    const firstDeadlineMs = Math.min(...rest.map(({ deadlineMs }) => deadlineMs))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, firstDeadlineMs - this.#options.clock.nowMs()))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  #answer(entries: readonly Entry[], how: (entry: Entry) => void): void {
    const answered = new Set(entries)
    this.#entries = this.#entries.filter((entry) => !answered.has(entry))
    entries.forEach(how)
  }
}

/** The entries from the first on whose nonces follow each other. */
function consecutive<E extends Entry>(entries: readonly E[]): E[] {
  const first = entries[0]?.call.nonce ?? 0n
  return entries.filter(({ call }, index) => call.nonce === first + BigInt(index))
}

const expectedNonce = (nonce: bigint) => ({ details: { expectedNonce: String(nonce) } })

const nonceUsed = (expected: bigint) =>
  new ServiceError('NONCE_USED', `the next nonce of this channel is ${expected}`, expectedNonce(expected))

const nonceConflict = (expected: bigint) =>
  new ServiceError('NONCE_CONFLICT', 'another payload was accepted with this nonce', expectedNonce(expected))

const nonceGap = (expected: bigint, got: bigint) =>
  new ServiceError(
    'NONCE_GAP',
    `the next nonce of this channel is ${expected}, this is ${got}`,
    expectedNonce(expected),
  )

const rateLimited = (reason: string) => new ServiceError('RATE_LIMITED', reason, { retryAfterSeconds: RETRY_SECONDS })
