import { ByteCache } from './byte-cache.ts'
import type { BlockRef, HeadTracker } from './head-tracker.ts'
import type { SingleFlight } from '../../concurrency/single-flight.ts'

/**
 * How long an answer holds. `never`: it is given only to those who asked. `head`: while the head is the same block.
 * `final`: for good, unless the chain is reorganised deeper than `confirmations`. `unproven`: the answer is about a
 * block that is newer than the last head seen.
 */
export type Lifetime = 'never' | 'unproven' | 'head' | 'final'

export interface Read<T> {
  /** Identifies the question, not the caller. */
  readonly key: string
  /** Asks the node; must not resolve to undefined. */
  readonly fetch: () => Promise<T>
  /** How long the answer holds, seen from a head that was looked at before the question was asked. */
  readonly lifetime: (answer: T, head: BlockRef) => Lifetime
  /** Bytes of memory that an answer takes, roughly; absent: estimated from its JSON text. */
  readonly bytes?: (answer: T) => number
}

export interface ReadCacheOptions {
  readonly budgetBytes: number
  /**
   * Whether even a final answer needs a look at the head before it is given again. True in front of development nodes,
   * whose tools take back any block (`evm_revert`).
   */
  readonly alwaysProve: () => boolean
  /** Counts the answers. */
  readonly statistics: CacheStatistics
}

/** The head's share of the budget. */
const HEAD_SHARE = 0.2

/**
 * Answers from memory only what is proven to be what the node would say now. A final answer is proven by its depth, and by
 * a look at the head in the last seconds; one that holds while the head stays, by a look at the head that begins after
 * the question was asked, or as long before it as the operator allows. That look is one call for all who ask at the same
 * time, whatever they ask.
 */
export class ReadCache {
  readonly #flights: SingleFlight
  readonly #head: HeadTracker
  readonly #alwaysProve: () => boolean
  readonly #statistics: CacheStatistics
  readonly #final: ByteCache<unknown>
  readonly #atHead: ByteCache<unknown>
  /** Number of times that what holds for the head was forgotten. */
  #forgotten = 0

  constructor(flights: SingleFlight, head: HeadTracker, { budgetBytes, alwaysProve, statistics }: ReadCacheOptions) {
    this.#flights = flights
    this.#head = head
    this.#alwaysProve = alwaysProve
    this.#statistics = statistics
    this.#final = new ByteCache(budgetBytes * (1 - HEAD_SHARE))
    this.#atHead = new ByteCache(budgetBytes * HEAD_SHARE)
  }

  async read<T>(read: Read<T>): Promise<T> {
    const { key } = read
    const statistics = this.#statistics
    for (;;) {
      const known = this.#final.get(key)
      if (known !== undefined && this.#head.isRecent && !this.#alwaysProve()) {
        statistics.hits++
        return known as T
      }
      if (known !== undefined || this.#atHead.get(key) !== undefined) {
        await this.#head.current()
        const proven = this.#final.get(key) ?? this.#atHead.get(key)
        if (proven !== undefined) {
          statistics.hits++
          return proven as T
        }
      }
      let isOwn = false
      const answer = await this.#flights.run(key, () => {
        isOwn = true
        statistics.misses++
        return this.#fetchAndKeep(read)
      })
      if (answer === undefined) continue
      if (!isOwn) statistics.shared++
      return answer
    }
  }

  /** Forgets what held for one head only. */
  forgetHead(): void {
    this.#forgotten++
    this.#atHead.clear()
  }

  /** Forgets everything. */
  clear(): void {
    this.forgetHead()
    this.#final.clear()
  }

  async #fetchAndKeep<T>({ key, fetch, lifetime, bytes = sizeOf }: Read<T>): Promise<T> {
    const head = this.#head.last ?? (await this.#head.probe())
    const { generation } = this.#head
    const forgotten = this.#forgotten
    const answer = await fetch()
    // The chain was reorganised meanwhile: the answer is given to those who asked before, and not kept.
    if (generation !== this.#head.generation) return answer
    switch (lifetime(answer, head)) {
      case 'final':
        this.#final.set(key, answer, key.length + bytes(answer))
        break
      case 'head':
        if (forgotten === this.#forgotten) this.#atHead.set(key, answer, key.length + bytes(answer))
        break
      case 'unproven':
        this.#head.outdate()
        // The next caller needs this look. This caller does not wait for it, nor for its failure.
        this.#head.probe().catch(() => undefined)
        break
      case 'never':
        break
    }
    return answer
  }
}

/** Objects take several times the bytes of their text; it need not be exact. */
const sizeOf = (answer: unknown) => 200 + 3 * JSON.stringify(answer).length

/** How many questions to the chain were answered in which way since the start. */
export interface CacheStatistics {
  /** From memory. */
  hits: number
  /** By a call to the node. */
  misses: number
  /** By a call to the node that another caller had already begun for the same question. */
  shared: number
}
