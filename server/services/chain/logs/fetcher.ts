import type { Log } from '../../../../specs/index.ts'
import { ServiceError } from '../../../core/errors.ts'
import { projectLog } from '../project.ts'
import { toQuantity } from '../../../ethereum/quantity.ts'
import type { SingleFlight } from '../../../concurrency/single-flight.ts'
import { translateError, type Upstream } from '../../node/upstream.ts'
import { withinTime } from '../../../concurrency/within-time.ts'
import { Semaphore } from '../../../concurrency/semaphore.ts'
import { divide, matcherOf, partsOf, toNodeFilter, type LogSelection } from './filter.ts'
import { refusalOf, type Refusal } from './node-limits.ts'
import { LARGEST_SPAN, RangeLimit } from './range-limit.ts'

/** Logs of consecutive blocks, ascending. */
export interface Chunk {
  readonly logs: readonly Log[]
  /** Last block of the chunk. */
  readonly end: number
}

/**
 * The number of logs that one call aims at, so that there are few calls and none takes long. A node that refuses so many is
 * asked for fewer.
 */
const TARGET_LOGS = 2000
const LEAST_TARGET_LOGS = 50
/** The number of blocks in the first call for a selection. A selection that takes every log begins with fewer. */
const FIRST_SPAN = 64
const FIRST_SPAN_OF_ALL = 8
/** The next call covers at most so many times the blocks of the call before it. */
const GROWTH = 8
/** The most addresses, or alternatives of a topic, in one call, until a node refuses so many. geth takes 1000. */
const LONGEST_LIST = 500
/**
 * The most parts that one selection is divided into, because its lists are long or because one block holds too much.
 */
const MOST_PARTS = 64
/** The most parts that are fetched at a time: each answer may have the full length. */
const CONCURRENT_PARTS = 8
/** The most selections whose density of logs is remembered. */
const REMEMBERED = 10_000

/** A range of blocks, or one block by its hash. */
type Place = { readonly fromBlock: unknown; readonly toBlock: unknown } | { readonly blockHash: string }

/** The limits of one node, as far as its refusals show them. */
class Limits {
  readonly range = new RangeLimit()
  longestList = LONGEST_LIST
  targetLogs = TARGET_LOGS
  /** Number of refusals in a row that blame the content of blocks which hold hardly any logs. */
  contradictions = 0
}

/**
 * Fetches logs in chunks of blocks. The length of a chunk follows the density of the logs and the limits of the node: a
 * refused chunk is fetched again with fewer blocks, and a refused block in parts, by address or topic. The fetcher
 * remembers the limits that refusals show, and the next query keeps to them from the start.
 */
export class LogFetcher {
  readonly #upstream: Upstream
  readonly #flights: SingleFlight
  /** The number of blocks in the next call, by selection. */
  readonly #spans = new Map<string, number>()
  /** By the name of the node. Where there is only one node, the name is empty. */
  readonly #limits = new Map<string, Limits>()
  /** Name of the node that answered last. As a rule the same node answers the next call. */
  #node = ''

  constructor(upstream: Upstream, flights: SingleFlight) {
    this.#upstream = upstream
    this.#flights = flights
  }

  /** The limits of the node that answered last. */
  get #own(): Limits {
    let own = this.#limits.get(this.#node)
    if (!own) this.#limits.set(this.#node, (own = new Limits()))
    return own
  }

  /**
   * Fetches the logs from block `from` on, in as many blocks up to `to` as one call serves well.
   *
   * @param deadlineMs when the time is over, by `performance.now()`
   * @throws ServiceError RPC_RESPONSE_TOO_LARGE, RPC_SERVER_ERROR; UPSTREAM_UNAVAILABLE also when the time is over
   */
  async chunk(selection: LogSelection, from: number, to: number, deadlineMs: number): Promise<Chunk> {
    const hint = this.#spans.get(selection.key) ?? (isOpen(selection) ? FIRST_SPAN_OF_ALL : FIRST_SPAN)
    let span = Math.min(hint, this.#own.range.blocks, to - from + 1)
    let tooMuch: number | undefined
    for (;;) {
      const end = from + span - 1
      const place = { fromBlock: toQuantity(from), toBlock: toQuantity(end) }
      try {
        const logs = (await this.#get(selection, place, deadlineMs)).filter(({ blockNumber }) =>
          isWithin(blockNumber, from, end),
        )
        this.#learn(selection, span, logs.length, tooMuch)
        return { logs, end }
      } catch (error) {
        const refusal = refusalOf(error, { from, to: end })
        if (refusal === undefined) {
          // A node that needs too long for an answer gives none. When the same query comes again, it begins with half
          // the blocks.
          if (isUnavailable(error)) this.#remember(selection, Math.max(1, Math.floor(span / 2)))
          throw translateError(error)
        }
        if (refusal.kind === 'list' && this.#shortenLists(selection)) continue
        if (span === 1) return { logs: await this.#orDivided(selection, place, error, refusal, deadlineMs), end: from }
        if (refusal.kind === 'content') tooMuch ??= span
        span = this.#shorter(span, refusal)
      }
    }
  }

  /** Fetches all logs of a block. @throws as {@link chunk}; the node's own error when it does not know the block */
  ofBlock(selection: LogSelection, blockHash: string, deadlineMs: number): Promise<readonly Log[]> {
    return this.#whole(selection, { blockHash }, deadlineMs)
  }

  /** Halves the length of lists in a call. @returns whether this selection has a list that is shorter then */
  #shortenLists(selection: LogSelection): boolean {
    const longest = longestList(selection, this.#own.longestList)
    if (longest < 2) return false
    this.#own.longestList = Math.min(this.#own.longestList, Math.floor(longest / 2))
    return true
  }

  /** @returns the number of blocks to try next, less than the number that was refused */
  #shorter(span: number, { kind, blocks }: Refusal): number {
    if (kind === 'content') return Math.max(1, Math.min(blocks ?? Math.floor(span / 2), span - 1))
    // A refusal in unknown words counts as one of the number of blocks. If the content was meant, the limit grows
    // again.
    this.#own.range.refused(span, blocks)
    return Math.min(this.#own.range.blocks, span - 1)
  }

  async #whole(
    selection: LogSelection,
    place: Place,
    deadlineMs: number,
    calls?: { left: number },
  ): Promise<readonly Log[]> {
    try {
      return await this.#get(selection, place, deadlineMs)
    } catch (error) {
      const refusal = refusalOf(error, { from: 0, to: 0 })
      if (refusal === undefined) throw error
      return this.#orDivided(selection, place, error, refusal, deadlineMs, calls)
    }
  }

  /** Fetches a refused block in parts. @throws the refusal when parts would not help */
  async #orDivided(
    selection: LogSelection,
    place: Place,
    cause: unknown,
    { kind }: Refusal,
    deadlineMs: number,
    calls = { left: MOST_PARTS },
  ): Promise<readonly Log[]> {
    if (kind !== 'content' && kind !== 'list') throw translateError(cause)
    const parts = divide(selection)
    if (parts === undefined || calls.left < parts.length) {
      const reason = 'one block has more logs than the node gives at once: narrow by address or topic'
      throw new ServiceError('RPC_RESPONSE_TOO_LARGE', reason, { cause })
    }
    calls.left -= parts.length
    const logs: Log[] = []
    // The parts are fetched one after the other, so that a node which refuses them all gets a dozen calls, not
    // thousands.
    for (const part of parts) logs.push(...(await this.#whole(part, place, deadlineMs, calls)))
    return ascending(logs)
  }

  async #get(selection: LogSelection, place: Place, deadlineMs: number): Promise<readonly Log[]> {
    const longest = this.#own.longestList
    const parts = partsOf(selection, longest)
    if (parts.length > MOST_PARTS) {
      const reason = `the node takes lists of ${longest}: the longest of a filter holds ${MOST_PARTS * longest} at most`
      throw new ServiceError('RPC_INVALID_PARAMS', reason, { details: { field: 'params/0' } })
    }
    const isWanted = matcherOf(selection)
    const [only] = parts
    if (parts.length === 1 && only) return this.#ask(only, place, isWanted, deadlineMs)
    const places = new Semaphore(CONCURRENT_PARTS)
    const ask = (part: LogSelection) => places.run(() => this.#ask(part, place, isWanted, deadlineMs))
    return ascending((await Promise.all(parts.map(ask))).flat())
  }

  async #ask(
    part: LogSelection,
    place: Place,
    isWanted: (log: Log) => boolean,
    deadlineMs: number,
  ): Promise<readonly Log[]> {
    if (performance.now() >= deadlineMs) throw late()
    const filter = { ...place, ...toNodeFilter(part) }
    const asked = this.#flights.fresh(`eth_getLogs ${JSON.stringify(filter)}`, () =>
      this.#upstream.request('eth_getLogs', [filter], { onNode: (name) => (this.#node = name) }),
    )
    const raw = await withinTime(asked, deadlineMs, late)
    if (!Array.isArray(raw)) throw new ServiceError('RPC_SERVER_ERROR', 'the node answered with what are no logs')
    const logs: Log[] = []
    for (const one of raw as unknown[]) {
      const log = projectLog(one)
      if (!hasPlace(log)) throw new ServiceError('RPC_SERVER_ERROR', 'the node answered with what is no log')
      if (!log.removed && isWanted(log)) logs.push(log)
    }
    return ascending(logs)
  }

  /**
   * Chooses the number of blocks for the next call of this selection.
   *
   * @param tooMuch number of blocks that the node refused for their content before it served these
   */
  #learn(selection: LogSelection, span: number, logs: number, tooMuch: number | undefined): void {
    if (tooMuch === undefined) {
      this.#own.targetLogs = Math.min(TARGET_LOGS, Math.ceil(this.#own.targetLogs * 1.05))
    } else if ((logs * tooMuch) / span > this.#own.targetLogs / 4) {
      this.#own.contradictions = 0
      this.#own.targetLogs = Math.max(LEAST_TARGET_LOGS, Math.floor(this.#own.targetLogs * 0.75))
    } else if (++this.#own.contradictions > 1) {
      // So few logs cannot be too many: the node has refused the number of blocks, whatever its text says.
      this.#own.range.refused(tooMuch)
    }
    this.#own.range.served(span)
    const fitting = logs === 0 ? LARGEST_SPAN : Math.floor((span * this.#own.targetLogs) / logs)
    this.#remember(selection, Math.max(1, Math.min(fitting, span * GROWTH)))
  }

  #remember(selection: LogSelection, span: number): void {
    this.#spans.delete(selection.key)
    this.#spans.set(selection.key, span)
    if (this.#spans.size <= REMEMBERED) return
    for (const oldest of this.#spans.keys()) {
      this.#spans.delete(oldest)
      break
    }
  }
}

/**
 * Sorts logs by block, then by index. Nodes send them in this order, but parts that were put together are not in it.
 */
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

/** Whether a log has the members by which logs are sorted and filtered. The schema checks the others. */
function hasPlace(log: unknown): log is Log {
  const { blockNumber, logIndex, topics } = (log ?? {}) as Partial<Log>
  return typeof blockNumber === 'string' && typeof logIndex === 'string' && Array.isArray(topics)
}

const isOpen = ({ addresses, topics }: LogSelection) =>
  addresses.length === 0 && topics.every((alternatives) => alternatives.length === 0)

/** The length of the longest list that is sent in one call. */
const longestList = ({ addresses, topics }: LogSelection, most = Infinity) =>
  Math.min(most, Math.max(addresses.length, ...topics.map((alternatives) => alternatives.length)))

const isWithin = (blockNumber: string, from: number, to: number) =>
  Number(blockNumber) >= from && Number(blockNumber) <= to

const late = () => new ServiceError('UPSTREAM_UNAVAILABLE', 'the node did not answer in time')

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.code === 'UPSTREAM_UNAVAILABLE'
