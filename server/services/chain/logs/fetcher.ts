import { ServiceError } from '../../../core/errors.ts'
import { projectLog, type Log } from '../project/log.ts'
import { toQuantity } from '../project/quantity.ts'
import type { SingleFlight } from '../single-flight.ts'
import { translateError } from '../translate-errors.ts'
import type { Upstream } from '../upstream.ts'
import { divide, matches, toNodeFilter, type LogSelection } from './filter.ts'
import { limitOf } from './node-limits.ts'

/** Logs of consecutive blocks, ascending. */
export interface Chunk {
  readonly logs: readonly Log[]
  /** Last block of the chunk. */
  readonly end: number
}

/** Logs per call that are aimed at: few calls, none of them long. */
const TARGET_LOGS = 2000
/** Blocks in the first call for a selection; fewer when nothing narrows it. */
const FIRST_SPAN = 64
const FIRST_SPAN_OF_ALL = 8
/** The next call covers at most so many times the blocks of the last. */
const GROWTH = 8
const LARGEST_SPAN = 100_000
/** The most addresses, or alternatives of a topic, in one call; geth takes 1000. */
const LONGEST_LIST = 500
/** Selections whose density is remembered. */
const REMEMBERED = 10_000

/** Where the logs are taken from: a range of blocks, or one block by its hash. */
type Place = { readonly fromBlock: unknown; readonly toBlock: unknown } | { readonly blockHash: string }

/**
 * Fetches logs in chunks of blocks whose length follows the density of the logs and the limits of the node: halved where
 * the node refuses, and at one block divided by address or topic.
 */
export class LogFetcher {
  readonly #upstream: Upstream
  readonly #flights: SingleFlight
  /** Blocks for the next call, by selection. */
  readonly #spans = new Map<string, number>()
  /** The most blocks that the node takes in a call, as far as it has told. */
  #rangeLimit = LARGEST_SPAN

  constructor(upstream: Upstream, flights: SingleFlight) {
    this.#upstream = upstream
    this.#flights = flights
  }

  /**
   * The logs from block `from` on, in as many blocks up to `to` as are fetched well at once.
   *
   * @throws ServiceError RPC_RESPONSE_TOO_LARGE, RPC_SERVER_ERROR, UPSTREAM_UNAVAILABLE
   */
  async chunk(selection: LogSelection, from: number, to: number): Promise<Chunk> {
    const hint = this.#spans.get(selection.key) ?? (isOpen(selection) ? FIRST_SPAN_OF_ALL : FIRST_SPAN)
    let span = Math.min(hint, this.#rangeLimit, to - from + 1)
    for (;;) {
      const end = from + span - 1
      try {
        const logs = (await this.#get(selection, { fromBlock: toQuantity(from), toBlock: toQuantity(end) })).filter(
          ({ blockNumber }) => isWithin(blockNumber, from, end),
        )
        this.#learn(selection, span, logs.length)
        return { logs, end }
      } catch (error) {
        const limit = limitOf(error)
        if (limit === undefined) throw translateError(error)
        if (span === 1) return { logs: await this.#divided(selection, placeOfBlock(from), error), end: from }
        span = Math.floor(span / 2)
        if (limit === 'range') this.#rangeLimit = span
      }
    }
  }

  /** All logs of a block. @throws as {@link chunk}; the node's own error when it does not know the block */
  ofBlock(selection: LogSelection, blockHash: string): Promise<readonly Log[]> {
    return this.#whole(selection, { blockHash })
  }

  async #whole(selection: LogSelection, place: Place): Promise<readonly Log[]> {
    try {
      return await this.#get(selection, place)
    } catch (error) {
      if (limitOf(error) === undefined) throw error
      return this.#divided(selection, place, error)
    }
  }

  async #divided(selection: LogSelection, place: Place, cause: unknown): Promise<readonly Log[]> {
    const parts = divide(selection)
    if (parts === undefined) {
      const reason = 'one block has more logs than the node gives at once: narrow by address or topic'
      throw new ServiceError('RPC_RESPONSE_TOO_LARGE', reason, { cause })
    }
    return ascending((await Promise.all(parts.map((part) => this.#whole(part, place)))).flat())
  }

  async #get(selection: LogSelection, place: Place): Promise<readonly Log[]> {
    const parts = isTooLong(selection) ? divide(selection) : undefined
    if (parts) return ascending((await Promise.all(parts.map((part) => this.#get(part, place)))).flat())

    const filter = { ...place, ...toNodeFilter(selection) }
    const raw = await this.#flights.fresh(`eth_getLogs ${JSON.stringify(filter)}`, () =>
      this.#upstream.request('eth_getLogs', [filter]),
    )
    if (!Array.isArray(raw)) throw new ServiceError('RPC_SERVER_ERROR', 'the node answered with what are no logs')
    const logs: Log[] = []
    for (const one of raw as unknown[]) {
      const log = projectLog(one)
      if (!hasPlace(log)) throw new ServiceError('RPC_SERVER_ERROR', 'the node answered with what is no log')
      if (!log.removed && matches(selection, log)) logs.push(log)
    }
    return ascending(logs)
  }

  #learn(selection: LogSelection, span: number, logs: number): void {
    const fitting = logs === 0 ? LARGEST_SPAN : Math.floor((span * TARGET_LOGS) / logs)
    this.#spans.delete(selection.key)
    this.#spans.set(selection.key, Math.max(1, Math.min(fitting, span * GROWTH)))
    if (this.#spans.size <= REMEMBERED) return
    for (const oldest of this.#spans.keys()) {
      this.#spans.delete(oldest)
      break
    }
  }
}

/** By block, then by index. Nodes give them so, but merged parts are not. */
function ascending(logs: Log[]): Log[] {
  const place = (log: Log) => [Number(log.blockNumber), Number(log.logIndex)] as const
  let [lastBlock, lastIndex] = [-1, -1]
  for (const log of logs) {
    const [block, index] = place(log)
    if (block < lastBlock || (block === lastBlock && index < lastIndex)) {
      return logs.sort((a, b) => {
        const [[blockA, indexA], [blockB, indexB]] = [place(a), place(b)]
        return blockA - blockB || indexA - indexB
      })
    }
    ;[lastBlock, lastIndex] = [block, index]
  }
  return logs
}

/** Enough to sort and to filter; the rest is left to the schema. */
function hasPlace(log: unknown): log is Log {
  const { blockNumber, logIndex, topics } = (log ?? {}) as Partial<Log>
  return typeof blockNumber === 'string' && typeof logIndex === 'string' && Array.isArray(topics)
}

const isOpen = ({ addresses, topics }: LogSelection) =>
  addresses.length === 0 && topics.every((alternatives) => alternatives.length === 0)

const isTooLong = ({ addresses, topics }: LogSelection) =>
  addresses.length > LONGEST_LIST || topics.some((alternatives) => alternatives.length > LONGEST_LIST)

const placeOfBlock = (number: number): Place => ({ fromBlock: toQuantity(number), toBlock: toQuantity(number) })

const isWithin = (blockNumber: string, from: number, to: number) =>
  Number(blockNumber) >= from && Number(blockNumber) <= to
