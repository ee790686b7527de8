import type { Logger } from 'pino'
import { isRaw } from '../../../ethereum/quantity.ts'
import { NodeFailure, type NodeConnection } from '../node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../upstream.ts'
import type { ChainIdentity, ToldIdentity } from './chain-identity.ts'

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 15_000
/** A node of another chain may be replaced by the right one at any time, and nothing else tells. */
const FOREIGN_RETRY_MS = 2_000
const VERIFY_AGAIN_MS = 1_000
/** What a node may ask for with `Retry-After`. */
const LONGEST_REST_MS = 300_000
/** Failures count half after this time. */
const HALF_LIFE_MS = 30_000
/** One that fails and answers by turns is told of so often. */
const TELL_EVERY_MS = 10_000
/** Differences far below it do not matter. */
const NOTICEABLE_MS = 20
const CHAIN_ID = /^0x[0-9a-f]{1,13}$/i
const HASH = /^0x[0-9a-f]{64}$/i
/** Share of the latest look in the latency. */
const SMOOTHING = 0.2

export interface NodeOptions {
  readonly connection: NodeConnection
  /** In the configuration, from 0. */
  readonly position: number
  readonly identity: ChainIdentity
  readonly timeoutMs: number
  readonly log: Logger | undefined
}

/**
 * One node as the server knows it: whether it answers, whether it is of the right chain, how fast it is. The chain is
 * looked at anew after each connecting: another node may have taken its place.
 */
export class Node {
  readonly name: string
  readonly position: number
  readonly #connection: NodeConnection
  readonly #options: NodeOptions
  #isWell = true
  #isTold = false
  #toldAtMs = -Infinity
  #isClosed = false
  #difference: string | undefined
  #restUntilMs = 0
  #retryMs = FIRST_RETRY_MS
  #retry: NodeJS.Timeout | undefined
  #verifying: Promise<void> | undefined
  #isVerified = false
  /** A node that does not tell its chain is not asked for it with every call. */
  #verifyAgainMs = 0
  #openings = 0
  #heardMs = -Infinity
  #latencyMs = 0
  #failures = 0
  #failuresAtMs = 0

  constructor(options: NodeOptions) {
    this.name = options.connection.name
    this.position = options.position
    this.#connection = options.connection
    this.#options = options
    options.connection.onOpen = () => {
      this.#openings++
      this.#isVerified = false
      void this.verify().catch(() => undefined)
    }
  }

  /** Whether it has answered when it was last asked. */
  get isWell(): boolean {
    return this.#isWell && this.#difference === undefined && !this.isResting
  }

  /** Whether it is of another chain than the server. */
  get isForeign(): boolean {
    return this.#difference !== undefined
  }

  /** Whether it has asked to be left alone. */
  get isResting(): boolean {
    return this.#restUntilMs > 0 && performance.now() < this.#restUntilMs
  }

  /** Milliseconds for which it wants to be left alone. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - performance.now())
  }

  /** When it last answered anything, on the clock of `performance.now()`. */
  get heardMs(): number {
    return this.#heardMs
  }

  /** Milliseconds of an answer as a rule, more for each failure of late: the less the better. */
  get cost(): number {
    return (NOTICEABLE_MS + this.#latencyMs) * (1 + this.#recentFailures())
  }

  /**
   * Who asks says what a failure means: see {@link failed}.
   *
   * @throws UpstreamRpcError the node's own error; NodeFailure there was no answer, it is of another chain, or it wants to
   *   be left alone
   */
  async call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown> {
    this.#assertUsable()
    // What is signed for one chain must not reach another.
    if (method === 'eth_sendRawTransaction' && !this.#isSure) await this.verify()
    try {
      const answer = await this.#connection.call(method, params, timeoutMs, traceparent)
      // Who asks wants to know it for sure.
      if (method === 'eth_chainId') this.#isVerified = false
      await this.#answered()
      return answer
    } catch (error) {
      if (error instanceof UpstreamRpcError) await this.#answered()
      throw error
    }
  }

  /** See `NodeConnection.callTogether`. */
  callTogether(
    calls: readonly UpstreamCall[],
    timeoutMs: number,
    traceparent?: string,
  ): readonly Promise<PromiseSettledResult<unknown>>[] {
    const send = () => {
      this.#assertUsable()
      return this.#connection.callTogether(calls, timeoutMs, traceparent)
    }
    const sent = this.#isSure ? attempt(send) : this.verify().then(send)
    return calls.map(async (_, index): Promise<PromiseSettledResult<unknown>> => {
      try {
        const outcome = (await (await sent)[index]) ?? { status: 'rejected', reason: new NodeFailure('no answer') }
        if (outcome.status === 'fulfilled' || outcome.reason instanceof UpstreamRpcError) await this.#answered()
        return outcome
      } catch (reason) {
        return { status: 'rejected', reason }
      }
    })
  }

  /**
   * Asks of which chain the node is; at once for all who want to know.
   *
   * @throws NodeFailure it does not answer
   */
  verify(): Promise<void> {
    return (this.#verifying ??= this.#verify()
      .catch((error: unknown) => {
        this.#verifyAgainMs = performance.now() + VERIFY_AGAIN_MS
        throw error
      })
      .finally(() => (this.#verifying = undefined)))
  }

  /** Asks of which chain the node is, without judging it. @throws NodeFailure it does not answer */
  async tellIdentity(): Promise<ToldIdentity> {
    const { timeoutMs } = this.#options
    const [id, first] = await Promise.allSettled([
      this.#connection.call('eth_chainId', [], timeoutMs),
      this.#connection.call('eth_getBlockByNumber', ['0x0', false], timeoutMs),
    ])
    if (id.status === 'rejected' && !(id.reason instanceof UpstreamRpcError)) throw id.reason
    const block = first.status === 'fulfilled' && isRaw(first.value) ? first.value : undefined
    // An odd answer says nothing of the chain: it is neither believed nor held against the node.
    return {
      chainId: id.status === 'fulfilled' ? matching(CHAIN_ID, id.value) : undefined,
      genesis: matching(HASH, block?.['hash']),
    }
  }

  /** Tells how long a look at its head took. */
  looked(durationMs: number): void {
    this.#latencyMs += SMOOTHING * (durationMs - this.#latencyMs)
  }

  /** It owes an answer for longer than is usual, and has answered nothing since: others go first until it does. */
  fellSilent(): void {
    this.#isWell = false
    this.#planRetry()
  }

  /** A call got no answer, while others did: it counts, and the node is asked on. */
  lostCall(): void {
    this.#failures = this.#recentFailures() + 1
    this.#failuresAtMs = performance.now()
  }

  /** What it has answered, or not, is no answer. */
  failed(failure: Error): void {
    // Said before anything was sent, or about what it knows: no fault of the connection.
    if (this.isForeign || this.isResting || (failure instanceof NodeFailure && failure.stage === 'behind')) return
    if (failure instanceof NodeFailure && failure.retryAfterMs !== undefined) {
      this.#restUntilMs = performance.now() + Math.min(failure.retryAfterMs, LONGEST_REST_MS)
    }
    this.lostCall()
    this.#isWell = false
    if (performance.now() - this.#toldAtMs > TELL_EVERY_MS) {
      this.#options.log?.warn({ node: this.name, reason: failure.message }, 'the node fails')
      this.#toldAtMs = performance.now()
      this.#isTold = true
    }
    this.#planRetry()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#connection.close()
  }

  /** Whether it is of the right chain, and no connecting lies ahead that may show otherwise. */
  get #isSure(): boolean {
    return this.#isVerified && this.#connection.isOpen
  }

  #assertUsable(): void {
    if (this.#difference !== undefined)
      throw new NodeFailure(`the node is of another chain: ${this.#difference}`, 'unreached')
    if (this.#restUntilMs > 0 && this.isResting) {
      throw new NodeFailure('the node wants to be left alone', 'unreached', { retryAfterMs: this.restMs })
    }
  }

  /** Nothing that another chain has answered is handed on. @throws NodeFailure */
  async #answered(): Promise<void> {
    this.#heardMs = performance.now()
    if (!this.#isVerified && performance.now() >= this.#verifyAgainMs) await this.verify().catch(() => undefined)
    if (this.#difference !== undefined) this.#assertUsable()
    if (!this.#isWell) this.#recovered()
  }

  #recovered(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#retryMs = FIRST_RETRY_MS
    this.#isWell = true
    if (this.#isTold) this.#options.log?.info({ node: this.name }, 'the node answers again')
    this.#isTold = false
  }

  async #verify(): Promise<void> {
    const { identity, log } = this.#options
    let openings: number
    do {
      // The connection that the question itself needs is no reason to ask again.
      openings = this.#openings + (this.#connection.isOpen ? 0 : 1)
      const difference = identity.differenceOf(await this.tellIdentity())
      if (difference !== undefined && this.#difference === undefined) {
        log?.error({ node: this.name, difference }, 'the node is of another chain: not used')
      }
      if (difference === undefined && this.#difference !== undefined) {
        log?.info({ node: this.name }, 'the node is of the right chain again')
      }
      this.#difference = difference
    } while (this.#openings > openings)
    this.#isVerified = true
    this.#heardMs = performance.now()
    if (this.#difference !== undefined) this.#planRetry()
  }

  #planRetry(): void {
    if (this.#retry !== undefined || this.#isClosed) return
    const ms = this.#difference === undefined ? this.#retryMs : FOREIGN_RETRY_MS
    this.#retry = setTimeout(() => void this.#tryAgain(), Math.max(ms, this.restMs)).unref()
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS)
  }

  async #tryAgain(): Promise<void> {
    this.#retry = undefined
    try {
      await this.verify()
      if (this.#difference === undefined) this.#recovered()
    } catch (error) {
      if (!this.#isClosed) this.failed(error as Error)
    }
  }

  #recentFailures(): number {
    if (this.#failures === 0) return 0
    return this.#failures * 2 ** ((this.#failuresAtMs - performance.now()) / HALF_LIFE_MS)
  }
}

/** What a function throws is a rejection. */
const attempt = async <T>(run: () => T) => run()

const matching = (pattern: RegExp, value: unknown) =>
  typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined
