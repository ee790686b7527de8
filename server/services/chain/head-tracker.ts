import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import { isRaw, toData, toQuantity } from '../../ethereum/quantity.ts'
import type { SingleFlight } from '../../concurrency/single-flight.ts'
import type { Upstream } from '../node/upstream.ts'

/** A block by its place in the chain. */
export interface BlockRef {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

export interface HeadListener {
  /** The head is the same as at the last look. */
  stayed(): void
  /** There is a new head, and the chain up to the last head is unchanged. */
  moved(): void
  /** Blocks that were seen are no longer part of the chain. */
  reorganised(): void
}

export interface HeadTrackerOptions {
  readonly upstream: Upstream
  readonly flights: SingleFlight
  readonly listener: HeadListener
  /** How old a head may be that answers a question, in milliseconds; 0: none that was read before the question. */
  readonly maxAgeMs: number
  readonly log?: Logger | undefined
}

/**
 * For this time, what was final at the last look at the head is believed without another look. So a reorganisation deeper
 * than `confirmations` is noticed after at most this time, in milliseconds.
 */
export const RECENT_MS = 5_000

/**
 * Looks at the head of the chain, and finds out whether what was known of the chain still holds. It looks only when it is
 * asked, because on a chain that mines at once a head from a moment ago proves nothing.
 */
export class HeadTracker {
  readonly #upstream: Upstream
  readonly #flights: SingleFlight
  readonly #listener: HeadListener
  readonly #maxAgeMs: number
  readonly #log: Logger | undefined
  #last: BlockRef | undefined
  #generation = 0
  /** When the last look began. */
  #lookedMs = -Infinity
  /** Whether something has told of a newer head since the last look. */
  #isOutdated = false

  constructor({ upstream, flights, listener, maxAgeMs, log }: HeadTrackerOptions) {
    this.#upstream = upstream
    this.#flights = flights
    this.#listener = listener
    this.#maxAgeMs = maxAgeMs
    this.#log = log
  }

  /** The head when it was last looked at. */
  get last(): BlockRef | undefined {
    return this.#last
  }

  /** Whether the last look is so recent that what was final then is still taken for final. */
  get isRecent(): boolean {
    return performance.now() - this.#lookedMs < RECENT_MS
  }

  /** Number of reorganisations seen. While it stays the same, the chain has only grown. */
  get generation(): number {
    return this.#generation
  }

  /**
   * The head, as the node had it at most `maxAgeMs` before this call.
   *
   * @throws what `probe` throws
   */
  async current(): Promise<BlockRef> {
    const isYoung = performance.now() - this.#lookedMs < this.#maxAgeMs && !this.#isOutdated
    return isYoung && this.#last !== undefined ? this.#last : this.probe()
  }

  /** Tells that the chain has a newer head than the last one seen: `current` asks the node. */
  outdate(): void {
    this.#isOutdated = true
  }

  /**
   * Asks for the head, never earlier than this call. Listeners are told of every change before it resolves.
   *
   * @throws ServiceError UPSTREAM_UNAVAILABLE, RPC_SERVER_ERROR
   */
  probe(): Promise<BlockRef> {
    return this.#flights.fresh('head', async () => {
      const beganMs = performance.now()
      this.#isOutdated = false
      const head = await this.block('latest')
      // The node has just started, or has lost its database.
      if (head === null) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node has no latest block')
      await this.#observe(head)
      this.#lookedMs = beganMs
      return head
    })
  }

  /** Forgets the last look, because somebody else has noticed a reorganisation. */
  forget(): void {
    this.#last = undefined
    this.#lookedMs = -Infinity
    this.#generation++
    this.#listener.reorganised()
  }

  /** A block by tag or number, as it is now; null when the chain has none there. */
  async block(tagOrNumber: string | number): Promise<BlockRef | null> {
    const param = typeof tagOrNumber === 'number' ? toQuantity(tagOrNumber) : tagOrNumber
    return toBlockRef(await this.#upstream.request('eth_getBlockByNumber', [param, false]))
  }

  /** Whether the node knows a block with this hash. */
  async hasBlock(hash: string): Promise<boolean> {
    return toBlockRef(await this.#upstream.request('eth_getBlockByHash', [hash, false])) !== null
  }

  async #observe(head: BlockRef): Promise<void> {
    const last = this.#last
    if (last?.hash === head.hash) return this.#listener.stayed()
    const grew = last === undefined || (await this.#descendsFrom(head, last))
    this.#last = head
    if (grew) {
      this.#listener.moved()
      return
    }
    this.#generation++
    this.#log?.warn({ from: last, to: head }, 'the chain was reorganised')
    this.#listener.reorganised()
  }

  async #descendsFrom(head: BlockRef, last: BlockRef): Promise<boolean> {
    if (head.number <= last.number) return false
    if (head.parentHash === last.hash) return true
    return (await this.block(last.number))?.hash === last.hash
  }
}

/** @throws ServiceError RPC_SERVER_ERROR on what is no block */
function toBlockRef(raw: unknown): BlockRef | null {
  if (raw === null) return null
  const number = isRaw(raw) ? toQuantity(raw['number']) : undefined
  const hash = isRaw(raw) ? toData(raw['hash']) : undefined
  const parentHash = isRaw(raw) ? toData(raw['parentHash']) : undefined
  if (typeof number !== 'string' || typeof hash !== 'string' || typeof parentHash !== 'string') {
    throw new ServiceError('RPC_SERVER_ERROR', 'the node answered with what is no block')
  }
  return { number: Number(number), hash, parentHash }
}
