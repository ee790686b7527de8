import type { Logger } from 'pino'
import { isRaw } from '../../../ethereum/quantity.ts'
import { type FailureStage, NodeFailure, type NodeConnection } from '../node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../upstream.ts'

/** What a node says of its chain. A member is undefined when the node does not tell it. */
interface ToldIdentity {
  readonly chainId: string | undefined
  /** Hash of block 0, by which development chains with the same id differ. Some nodes do not keep that block. */
  readonly genesis: string | undefined
}

/** Stages of failures that say nothing of the connection. */
const INNOCENT: ReadonlySet<FailureStage> = new Set(['waiting', 'behind'])

/** The chain that the server is about. It is decided once; a node that says otherwise later is not used. */
export class ChainIdentity {
  #learns: boolean
  #chainId: string | undefined
  #genesis: string | undefined

  /**
   * @param learns whether the first node that tells its chain is believed; otherwise {@link decide} has to be called
   */
  constructor(learns: boolean) {
    this.#learns = learns
  }

  /**
   * Takes the chain that most nodes tell. When two chains have as many nodes, the one that is listed first is taken.
   */
  decide(told: readonly ToldIdentity[]): void {
    const names = told.map(({ chainId, genesis }) => `${chainId} ${genesis}`)
    const count = (name: string) => names.filter((one) => one === name).length
    const best = told.reduce<number>((found, _, index) => {
      return found === -1 || count(names[index] ?? '') > count(names[found] ?? '') ? index : found
    }, -1)
    this.#chainId ??= told[best]?.chainId
    this.#genesis ??= told[best]?.genesis
    this.#learns = true
  }

  /** @returns how this chain differs from the server's, in words; undefined when it does not */
  differenceOf({ chainId, genesis }: ToldIdentity): string | undefined {
    if (chainId !== undefined && this.#chainId !== undefined && Number(chainId) !== Number(this.#chainId)) {
      return `chain id ${chainId}, not ${this.#chainId}`
    }
    if (genesis !== undefined && this.#genesis !== undefined && genesis !== this.#genesis) {
      return `first block ${genesis}, not ${this.#genesis}`
    }
    if (this.#learns) {
      this.#chainId ??= chainId
      this.#genesis ??= genesis
    }
    return undefined
  }
}

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 15_000
/** A node of another chain may be replaced by one of the right chain at any time: the server looks this often. */
const FOREIGN_RETRY_MS = 2_000
const VERIFY_AGAIN_MS = 1_000
/** The longest rest that a node may ask for with `Retry-After`. */
const LONGEST_REST_MS = 300_000
/** A node that was well and is silent is waited for so long where its word may change what others say. */
const PATIENCE_MS = 1_000
/** After this time a failure counts half. */
const HALF_LIFE_MS = 30_000
/** A node that fails and answers by turns is logged at most this often. */
const TELL_EVERY_MS = 10_000
/** JSON-RPC 2.0. */
const METHOD_NOT_FOUND = -32601
/** Added to each latency, so that differences far below it do not decide. */
const NOTICEABLE_MS = 20
const CHAIN_ID = /^0x[0-9a-f]{1,13}$/i
const HASH = /^0x[0-9a-f]{64}$/i
/** Weight of the latest look in the average latency. */
const SMOOTHING = 0.2

interface NodeOptions {
  readonly connection: NodeConnection
  /** Its place in the configuration, from 0. */
  readonly position: number
  readonly identity: ChainIdentity
  readonly timeoutMs: number
  readonly log: Logger | undefined
}

/**
 * One node: whether it answers, whether it is of the right chain, how fast it is. After each new connection the chain is
 * checked again, because another node may have taken its place.
 */
export class Node {
  readonly name: string
  readonly position: number
  readonly #connection: NodeConnection
  readonly #options: NodeOptions
  #isWell = true
  #silentSinceMs = -Infinity
  #isTold = false
  #toldAtMs = -Infinity
  readonly #unserved = new Set<string>()
  #isClosed = false
  #difference: string | undefined
  #restUntilMs = 0
  #retryMs = FIRST_RETRY_MS
  #retry: NodeJS.Timeout | undefined
  #verifying: Promise<void> | undefined
  #isVerified = false
  /** Not before this time is a node asked again for a chain that it does not tell. */
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

  /** Whether the node answered when it was last asked, and is of the right chain. */
  get isWell(): boolean {
    return this.#isWell && this.#difference === undefined && !this.isResting
  }

  /** Whether the node is well, or has only just been slow: it may still be heard, and outvote others. */
  get mayAnswer(): boolean {
    if (this.isWell) return true
    return !this.isForeign && !this.isResting && performance.now() - this.#silentSinceMs < PATIENCE_MS
  }

  /** Whether the node is of another chain than the server. */
  get isForeign(): boolean {
    return this.#difference !== undefined
  }

  /** Whether the node has asked to be left alone, and that time is not over. */
  get isResting(): boolean {
    return this.#restUntilMs > 0 && performance.now() < this.#restUntilMs
  }

  /** Milliseconds for which the node still wants to be left alone. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - performance.now())
  }

  /** When the node last answered anything, on the clock of `performance.now()`. */
  get heardMs(): number {
    return this.#heardMs
  }

  /** Usual milliseconds of an answer, multiplied for recent failures. Nodes with a lower cost are asked first. */
  get cost(): number {
    return (NOTICEABLE_MS + this.#latencyMs) * (1 + this.#recentFailures())
  }

  /**
   * Asks the node. The caller reports a failure by {@link failed} if it is the node's fault.
   *
   * @throws UpstreamRpcError the node's own error; NodeFailure there was no answer, it is of another chain, or it wants to
   *   be left alone
   */
  async call(method: string, params: readonly unknown[], timeoutMs: number, traceparent?: string): Promise<unknown> {
    this.#assertUsable()
    // A transaction for one chain must not reach another.
    if (method === 'eth_sendRawTransaction' && !this.#isSure) await this.verify()
    try {
      const answer = await this.#connection.call(method, params, timeoutMs, traceparent)
      // The caller wants to know the chain for certain, so it is checked again.
      if (method === 'eth_chainId') this.#isVerified = false
      await this.#answered()
      return answer
    } catch (error) {
      if (error instanceof UpstreamRpcError) {
        if (error.code === METHOD_NOT_FOUND) this.#tellUnserved(method, error.message)
        await this.#answered()
      }
      throw error
    }
  }

  /** Tells each method once: what needs it will not work until the node is another one. */
  #tellUnserved(method: string, reason: string): void {
    if (this.#unserved.has(method)) return
    this.#unserved.add(method)
    this.#options.log?.info({ node: this.name, method, reason }, 'the node does not serve a method')
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
   * Asks of which chain the node is. Callers at the same time share one question.
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

  /** Asks of which chain the node is, and does not judge the answer. @throws NodeFailure it does not answer */
  async tellIdentity(): Promise<ToldIdentity> {
    const { timeoutMs } = this.#options
    const [id, first] = await Promise.allSettled([
      this.#connection.call('eth_chainId', [], timeoutMs),
      this.#connection.call('eth_getBlockByNumber', ['0x0', false], timeoutMs),
    ])
    if (id.status === 'rejected' && !(id.reason instanceof UpstreamRpcError)) throw id.reason
    const block = first.status === 'fulfilled' && isRaw(first.value) ? first.value : undefined
    // A malformed answer says nothing of the chain.
    return {
      chainId: id.status === 'fulfilled' ? matching(CHAIN_ID, id.value) : undefined,
      genesis: matching(HASH, block?.['hash']),
    }
  }

  /** Tells how long a look at its head took. */
  looked(durationMs: number): void {
    this.#latencyMs += SMOOTHING * (durationMs - this.#latencyMs)
  }

  /**
   * The node has answered nothing since it was asked, for longer than is usual: others are asked first until it
   * answers.
   *
   * @param forMs how long it was waited for with patience already
   */
  fellSilent(forMs = 0): void {
    const sinceMs = performance.now() - forMs
    this.#silentSinceMs = this.#isWell ? sinceMs : Math.min(this.#silentSinceMs, sinceMs)
    this.#isWell = false
    this.#planRetry()
  }

  /** One call got no answer while others did. It raises the cost; the node is still asked. */
  lostCall(): void {
    this.#failures = this.#recentFailures() + 1
    this.#failuresAtMs = performance.now()
  }

  /** The node has not answered, or its answer is unusable. */
  failed(failure: Error): void {
    // Such a failure comes before anything was sent, or is about blocks that the node lacks: the connection is fine.
    if (this.isForeign || this.isResting || (failure instanceof NodeFailure && INNOCENT.has(failure.stage))) return
    if (failure instanceof NodeFailure && failure.retryAfterMs !== undefined) {
      this.#restUntilMs = performance.now() + Math.min(failure.retryAfterMs, LONGEST_REST_MS)
    }
    this.lostCall()
    this.#isWell = false
    this.#silentSinceMs = -Infinity
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

  /** Whether the node was checked over the connection that is open now. */
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

  /** Notes an answer. An answer of another chain is not handed on. @throws NodeFailure */
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
      // A connection that this question itself opens is no reason to ask again.
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

/** Turns what a function throws into a rejection. */
const attempt = async <T>(run: () => T) => run()

const matching = (pattern: RegExp, value: unknown) =>
  typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined
