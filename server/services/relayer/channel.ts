import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../clock.ts'
import type { Admission } from '../ledger/admission.ts'
import type { ChannelKey, ChannelQuestion, ChannelState } from '../ledger/lookup.ts'

/** A call whose caller waits for the answer. */
export interface WaitingCall {
  readonly call: RelayCall
  /** 32 bytes, hex; see `identityOf`. */
  readonly identity: string
  /** What the ledger allows the call. */
  readonly admission: Admission
  /** Until when the call waits for its predecessor in the channel, by the monotonic clock. */
  readonly deadlineMs: number
  readonly resolve: (transactionHash: string) => void
  readonly reject: (error: unknown) => void
}

export interface ChannelOptions {
  readonly key: ChannelKey
  readonly clock: Clock
  readonly lookUp: (question: ChannelQuestion) => Promise<ChannelState>
  /** Takes the next calls of the channel through all steps. What the turn does not answer waits for another turn. */
  readonly turn: (channel: Channel) => Promise<void>
  /** Called when no call waits any more. */
  readonly onEmpty: () => void
}

/**
 * The calls of one (key manager, signer, channel) that wait for an answer. The channel gives them turns, one turn after
 * the other, so that they are tried and stored in the order of their nonces, whatever the order in which they came.
 * Different channels do not wait for each other.
 */
export class Channel {
  /**
   * The channel's next nonce on the chain, as the last turn read it, if that turn found that stored calls were waiting to
   * be mined.
   */
  chainNonceBehindPending: bigint | undefined
  readonly #options: ChannelOptions
  #calls: WaitingCall[] = []
  #isBusy = false
  #wake: (() => void) | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  add(call: WaitingCall): void {
    this.#calls.push(call)
    this.#wake?.()
    if (!this.#isBusy) void this.#giveTurns()
  }

  async #giveTurns(): Promise<void> {
    this.#isBusy = true
    while (this.#calls.length > 0) {
      try {
        await this.#options.turn(this)
      } catch (error) {
        this.refuse(this.#calls, error)
      }
    }
    this.#isBusy = false
    this.#options.onEmpty()
  }

  /** @returns the calls that wait, in the order of their nonces */
  inOrder(): WaitingCall[] {
    return this.#calls.toSorted((one, other) => (one.call.nonce < other.call.nonce ? -1 : 1))
  }

  /**
   * Asks the ledger about the channel, and answers the calls that were accepted before.
   *
   * @returns the calls that were not, and what waits to be mined
   */
  async lookUp(
    calls: readonly WaitingCall[],
    question: Pick<ChannelQuestion, 'from' | 'alsoMined'>,
  ): Promise<{ readonly open: WaitingCall[]; readonly pending: ChannelState['pending'] }> {
    const identities = calls.map(({ identity }) => identity)
    const { key, lookUp } = this.#options
    const { known, pending } = await lookUp({ key, identities, ...question })
    return { open: this.#answerKnown(calls, known), pending }
  }

  /** Takes calls out of the channel, which no longer answers them. */
  release(calls: readonly WaitingCall[]): void {
    const released = new Set(calls)
    this.#calls = this.#calls.filter((call) => !released.has(call))
  }

  refuse(calls: readonly WaitingCall[], error: unknown): void {
    this.release(calls)
    for (const { reject } of calls) reject(error)
  }

  /**
   * Waits until another call comes, or the first of these calls has waited long enough for its predecessor. Refuses the
   * calls that had waited long enough when the turn began.
   *
   * @param expected the nonce that is missing
   */
  async waitForPredecessor(calls: readonly WaitingCall[], expected: bigint, turnBeganMs: number): Promise<void> {
    for (const late of calls.filter(({ deadlineMs }) => deadlineMs <= turnBeganMs)) {
      this.refuse([late], nonceGap(expected, late.call.nonce))
    }
    const patient = calls.filter(({ deadlineMs }) => deadlineMs > turnBeganMs)
    // A call that came meanwhile may be the one that is missing.
    if (patient.length === 0 || this.#calls.length > patient.length) return
    const firstDeadlineMs = Math.min(...patient.map(({ deadlineMs }) => deadlineMs))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, firstDeadlineMs - this.#options.clock.monotonicMs()))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }

  /** @returns the calls that are not known */
  #answerKnown(calls: readonly WaitingCall[], known: ReadonlyMap<string, string>): WaitingCall[] {
    this.release(calls.filter(({ identity }) => known.has(identity)))
    return calls.filter(({ identity, resolve }) => {
      const hash = known.get(identity)
      if (hash !== undefined) resolve(hash)
      return hash === undefined
    })
  }
}

function nonceGap(expected: bigint, got: bigint): ServiceError {
  return new ServiceError('NONCE_GAP', `the next nonce of this channel is ${expected}, this is ${got}`, {
    details: { expectedNonce: String(expected) },
  })
}
