import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import type { Admission } from '../ledger/admission.ts'
import {
  END_OF_NONCES,
  type ChannelKey,
  type ChannelQuestion,
  type ChannelState,
  type PendingCall,
} from '../ledger/lookup.ts'
import type { ChannelResult, ChannelRun } from '../simulator/simulator.ts'
import { judgeCall, judgeSigner } from './judge.ts'

/** A call that waits for its answer. */
export interface Entry {
  readonly call: RelayCall
  readonly identity: string
  /** What the ledger allows it. */
  readonly admission: Admission
  readonly resolve: (transactionHash: string) => void
  readonly reject: (error: unknown) => void
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
  readonly lookUp: (question: ChannelQuestion) => Promise<ChannelState>
  readonly simulate: (run: ChannelRun) => Promise<ChannelResult>
  /** @throws ServiceError INVALID_SIGNATURE */
  readonly explainSigner: (call: RelayCall) => Promise<never>
  /**
   * Stores and sends calls, and answers their entries.
   *
   * @param account of the relayer, that sends the calls before these; undefined: any
   * @returns once they are stored; those whose predecessor was refused come back
   */
  readonly dispatch: (run: readonly SimulatedEntry[], account: string | undefined) => Promise<readonly Entry[]>
  /** Called when nobody waits any more. */
  readonly onEmpty: () => void
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
 *
 * A call is first tried as if nothing were pending: mostly nothing is, and one look at the chain is enough. The ledger
 * is asked only when that fails: for the calls before it, or for what became of the same call before.
 */
export class Channel {
  readonly #options: ChannelOptions
  #entries: WaitingEntry[] = []
  #busy = false
  #wake: (() => void) | undefined
  /** The channel's next nonce on the chain, while calls before the next one were pending when it was last tried. */
  #behind: bigint | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  add(entry: Entry): void {
    const { clock, gapGraceMs } = this.#options
    this.#entries.push({ ...entry, deadlineMs: clock.monotonicMs() + gapGraceMs })
    this.#wake?.()
    if (!this.#busy) void this.#work()
  }

  async #work(): Promise<void> {
    this.#busy = true
    while (this.#entries.length > 0) {
      try {
        await this.#turn()
      } catch (error) {
        await this.#answerFromLedgerOrReject(this.#entries, error)
      }
    }
    this.#busy = false
    this.#options.onEmpty()
  }

  async #turn(): Promise<void> {
    const startedMs = this.#options.clock.monotonicMs()
    const entries = this.#entries.toSorted((one, other) => (one.call.nonce < other.call.nonce ? -1 : 1))
    if (this.#behind !== undefined) return this.#tryOnTopOfPending(entries, this.#behind, { isFresh: false, startedMs })

    const run = consecutive(entries).slice(0, MAX_RUN)
    const [lowest] = run
    if (!lowest) return
    const result = await this.#options.simulate({ pending: [], ...simulated(run) })
    await judgeSigner(lowest.call, result, this.#options.explainSigner)
    if (lowest.call.nonce > result.nonce) {
      return this.#tryOnTopOfPending(entries, result.nonce, { isFresh: true, startedMs })
    }
    if (lowest.call.nonce < result.nonce) return this.#refuseUsed(entries, result.nonce)
    await this.#dispatch(run, result, undefined)
  }

  /** @param chainNonce the channel's next nonce on the chain, read in this turn or in one before */
  async #tryOnTopOfPending(
    entries: readonly WaitingEntry[],
    chainNonce: bigint,
    { isFresh, startedMs }: { readonly isFresh: boolean; readonly startedMs: number },
  ): Promise<void> {
    const { key, lookUp, simulate, explainSigner } = this.#options
    const identities = entries.map(({ identity }) => identity)
    const state = await lookUp({ key, from: chainNonce, identities, alsoMined: isFresh })
    const open = this.#answerKnown(entries, state.known)
    const pending = consecutivePending(state.pending, chainNonce)
    const expected = chainNonce + BigInt(pending.length)
    const [lowest] = open
    this.#behind = pending.length === 0 ? undefined : chainNonce
    // With nothing pending any more, the next turn asks the chain again.
    if (!lowest || (pending.length === 0 && !isFresh)) return
    if (lowest.call.nonce < chainNonce) return this.#refuseUsed(open, chainNonce)
    if (lowest.call.nonce < expected) {
      const taken = open.filter(({ call }) => call.nonce < expected)
      return this.#answer(taken, ({ reject }) => reject(nonceConflict(expected)))
    }
    if (lowest.call.nonce > expected) return this.#waitForPredecessor(open, expected, startedMs)
    if (pending.length >= MAX_PENDING) {
      return this.#answer(open, ({ reject }) => reject(tooManyPending(pending.length)))
    }

    const run = consecutive(open).slice(0, Math.min(MAX_RUN, MAX_PENDING - pending.length))
    const result = await simulate({
      pending: pending.map(({ callData }) => callData),
      ...simulated(run),
    })
    await judgeSigner(lowest.call, result, explainSigner)
    this.#behind = result.nonce < lowest.call.nonce ? result.nonce : undefined
    if (result.nonce < chainNonce) {
      // A reorganisation took back calls that were not simulated with these: the next turn finds them pending again.
      this.#behind = undefined
      return
    }
    if (lowest.call.nonce < result.nonce) return this.#refuseUsed(open, result.nonce)
    await this.#dispatch(run, result, pending.at(-1)?.account)
  }

  async #dispatch(run: readonly WaitingEntry[], result: ChannelResult, account: string | undefined): Promise<void> {
    const accepted: SimulatedEntry[] = []
    for (const [index, entry] of run.entries()) {
      const outcome = await admitted(entry.call, judgeCall(result.calls[index], entry.admission))
      if (outcome instanceof ServiceError) {
        if (accepted.length === 0) return this.#answerFromLedgerOrReject([entry], outcome)
        // What lies before it is stored first; it gets a turn of its own.
        break
      }
      accepted.push({ entry, gas: outcome })
    }
    const orphaned = new Set(await this.#options.dispatch(accepted, account))
    const through = new Set(accepted.map(({ entry }) => entry).filter((entry) => !orphaned.has(entry)))
    this.#entries = this.#entries.filter((entry) => !through.has(entry))
  }

  /** The same call may have been accepted before, and its answer stands whatever has become of the chain since. */
  async #answerFromLedgerOrReject(entries: readonly WaitingEntry[], error: unknown): Promise<void> {
    const { key, lookUp } = this.#options
    let open = entries
    try {
      const identities = entries.map(({ identity }) => identity)
      const { known, reverted } = await lookUp({ key, from: END_OF_NONCES, identities })
      open = this.#answerKnown(entries, new Map([...reverted, ...known]))
    } catch {
      // The ledger does not answer: the first error tells more.
    }
    this.#answer(open, ({ reject }) => reject(error))
  }

  async #refuseUsed(entries: readonly WaitingEntry[], chainNonce: bigint): Promise<void> {
    this.#behind = undefined
    const used = entries.filter(({ call }) => call.nonce < chainNonce)
    await this.#answerFromLedgerOrReject(used, nonceUsed(chainNonce))
  }

  /** @returns those that are not known */
  #answerKnown(entries: readonly WaitingEntry[], known: ReadonlyMap<string, string>): WaitingEntry[] {
    this.#answer(
      entries.filter(({ identity }) => known.has(identity)),
      ({ identity, resolve }) => resolve(known.get(identity) ?? ''),
    )
    return entries.filter(({ identity }) => !known.has(identity))
  }

  /** Waits until another call comes, or the first one has waited long enough. */
  async #waitForPredecessor(open: readonly WaitingEntry[], expected: bigint, startedMs: number): Promise<void> {
    const late = open.filter(({ deadlineMs }) => deadlineMs <= startedMs)
    this.#answer(late, ({ call, reject }) => reject(nonceGap(expected, call.nonce)))
    const rest = open.filter(({ deadlineMs }) => deadlineMs > startedMs)
    // Somebody came meanwhile: perhaps the one that is waited for.
    if (rest.length === 0 || this.#entries.length > rest.length) return
    const firstDeadlineMs = Math.min(...rest.map(({ deadlineMs }) => deadlineMs))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, firstDeadlineMs - this.#options.clock.monotonicMs()))
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

/** The calls of a run, and the least of what they may take. */
function simulated(run: readonly Entry[]): { readonly calls: readonly RelayCall[]; readonly gasCap: bigint } {
  const caps = run.map(({ admission }) => admission.gasCap)
  return {
    calls: run.map(({ call }) => call),
    gasCap: caps.reduce((least, cap) => (cap < least ? cap : least)),
  }
}

/** Simulations take time of the node, whatever comes of them: so a call that would revert is counted like one that is taken. */
const COUNTED = new Set<string>(['RELAY_CALL_REVERTS', 'NOT_AUTHORISED'])

/** @returns the gas of a call that is taken, or why it is refused */
async function admitted({ admit }: RelayCall, outcome: bigint | ServiceError): Promise<bigint | ServiceError> {
  if (!admit || (outcome instanceof ServiceError && !COUNTED.has(outcome.code))) return outcome
  try {
    await admit()
    return outcome
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

/** The entries from the first on whose nonces follow each other. */
function consecutive<E extends Entry>(entries: readonly E[]): E[] {
  const first = entries[0]?.call.nonce ?? 0n
  return entries.filter(({ call }, index) => call.nonce === first + BigInt(index))
}

/** What waits to be mined from this nonce on, without what lies behind a gap. */
function consecutivePending(pending: readonly PendingCall[], from: bigint): PendingCall[] {
  return pending.filter(({ nonce }, index) => nonce === from + BigInt(index))
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

const tooManyPending = (count: number) =>
  new ServiceError('RATE_LIMITED', `${count} calls of this channel wait to be mined`, {
    retryAfterSeconds: RETRY_SECONDS,
  })
