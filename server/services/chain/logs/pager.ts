import type { BlockParam, Log, LogFilter } from '../../../../specs/index.ts'
import { ServiceError } from '../../../core/errors.ts'
import { ByteCache } from '../byte-cache.ts'
import type { BlockRef, HeadTracker } from '../head-tracker.ts'
import { numberOf } from '../../../ethereum/quantity.ts'
import type { Lifetime, ReadCache } from '../read-cache.ts'
import { translateError } from '../../node/upstream.ts'
import { Cursors, placeOf, type LogPlace } from './cursors.ts'
import type { LogFetcher } from './fetcher.ts'
import { selectionOf, type LogSelection } from './filter.ts'

/** The most logs of a response, by the document. */
export const PAGE_LENGTH = 1000

export interface LogPagerOptions {
  readonly fetcher: LogFetcher
  readonly cache: ReadCache
  readonly head: HeadTracker
  readonly confirmations: number
  /** Whether the chain may take back any block, as development chains can. */
  readonly mayRewind: () => boolean
  /** Bound on the memory of logs that were fetched ahead. */
  readonly budgetBytes: number
  /** The longest time that one page may take. */
  readonly timeoutMs: number
}

/** All logs from a place up to the end of a block. */
interface Ahead {
  readonly logs: readonly Log[]
  readonly coveredTo: number
}

/**
 * Serves pages of logs. When a chunk holds more logs than the page, the pager keeps the rest for the next page, by
 * selection and place. So a walk fetches each log once. The pager keeps a bounded number of bytes, and fetches again
 * what it no longer has.
 */
export class LogPager {
  readonly #options: LogPagerOptions
  readonly #ahead: ByteCache<Ahead>
  readonly #cursors: Cursors

  constructor(options: LogPagerOptions) {
    this.#options = options
    this.#ahead = new ByteCache(options.budgetBytes)
    this.#cursors = new Cursors(options.head)
  }

  /** See `Chain.logs`. */
  async page(filter: LogFilter): Promise<readonly Log[]> {
    const { head, cache } = this.#options
    const selection = selectionOf(filter)
    const after = filter.paging_options && afterOf(filter.paging_options)
    if (filter.blockHash !== undefined) {
      await head.probe()
      return this.#pageOfBlock(selection, filter.blockHash.toLowerCase(), after)
    }
    const { from, to } = await this.#range(filter)
    if (after) await this.#cursors.check(selection, after)
    const start =
      after && after.block >= from ? { block: after.block, index: after.index + 1 } : { block: from, index: 0 }
    if (start.block > to) return Object.freeze([])

    const { generation } = head
    const page = await cache.read({
      key: `logs ${keyOf(selection, start)} ${to}`,
      fetch: () => this.#walk(selection, start, to),
      lifetime: (answer, at) => this.#lifetime(answer, to, at),
      bytes: bytesOf,
    })
    this.#cursors.deliver(selection, page, generation)
    return page
  }

  /** Forgets what was fetched ahead. */
  reorganised(): void {
    this.#ahead.clear()
  }

  /**
   * @returns the first and the last block, at most the head. A range ahead of the chain ends before its first block,
   * and has
   *   no logs
   */
  async #range({ fromBlock = 'latest', toBlock = 'latest' }: LogFilter): Promise<{ from: number; to: number }> {
    const { head, confirmations, mayRewind } = this.#options
    const [from, to] = [numberOf(fromBlock), numberOf(toBlock)]
    if (from !== undefined && to !== undefined) {
      if (from > to) throw rangeFault()
      if (to <= (head.last?.number ?? -1) - confirmations && head.isRecent && !mayRewind()) return { from, to }
    }
    const { number: last } = await head.probe()
    const resolve = async (block: BlockParam): Promise<number> => {
      const number = numberOf(block)
      if (number !== undefined) return number
      if (block === 'earliest') return 0
      // A pending block has no logs, so `pending` means the latest block.
      if (block === 'latest' || block === 'pending') return last
      const tagged = await head.block(String(block))
      if (tagged === null) throw new ServiceError('RPC_RESOURCE_NOT_FOUND', `the chain has no ${block} block yet`)
      return tagged.number
    }
    return { from: from ?? (await resolve(fromBlock)), to: Math.min(to ?? (await resolve(toBlock)), last) }
  }

  async #walk(selection: LogSelection, start: LogPlace, to: number): Promise<readonly Log[]> {
    const { fetcher, head, timeoutMs } = this.#options
    const { generation } = head
    const deadlineMs = performance.now() + timeoutMs
    const ahead = this.#ahead.get(keyOf(selection, start))
    const logs = [...(ahead?.logs ?? [])]
    const begin = ahead ? ahead.coveredTo + 1 : start.block
    let next = begin

    while (countUpTo(logs, to) < PAGE_LENGTH && next <= to) {
      const chunk = await fetcher.chunk(selection, next, to, deadlineMs).catch((error: unknown) => {
        this.#keep(selection, start, logs, next - 1, generation)
        // The node has answered other chunks of this page, so it is not down: the range takes too long.
        throw performance.now() < deadlineMs || next === begin ? error : takesLong(error)
      })
      for (const log of chunk.logs) if (!isBefore(log, start)) logs.push(log)
      next = chunk.end + 1
    }
    const page = logs.slice(0, Math.min(countUpTo(logs, to), PAGE_LENGTH))
    const last = page.at(-1)
    if (page.length === PAGE_LENGTH && last) {
      const { block, index } = placeOf(last)
      this.#keep(selection, { block, index: index + 1 }, logs.slice(PAGE_LENGTH), next - 1, generation, block)
    }
    return Object.freeze(page)
  }

  /**
   * Keeps the logs after a page. A node may know a block before it knows its logs. So where blocks are not final, the pager
   * remembers only up to the last log, and asks again whether later blocks have any.
   */
  #keep(
    selection: LogSelection,
    start: LogPlace,
    logs: readonly Log[],
    fetchedTo: number,
    generation: number,
    lastBlock = -1,
  ): void {
    const { head, confirmations } = this.#options
    if (generation !== head.generation) return
    const final = (head.last?.number ?? -1) - confirmations
    const last = logs.at(-1)
    const coveredTo = Math.min(fetchedTo, Math.max(final, last ? placeOf(last).block : lastBlock))
    if (coveredTo < start.block) return
    this.#ahead.set(keyOf(selection, start), { logs, coveredTo }, bytesOf(logs))
  }

  async #pageOfBlock(selection: LogSelection, blockHash: string, after: LogPlace | undefined): Promise<readonly Log[]> {
    const { fetcher, head, timeoutMs } = this.#options
    const deadlineMs = performance.now() + timeoutMs
    const key = `${blockHash} ${selection.key}`
    const { generation } = head
    let logs = this.#ahead.get(key)?.logs
    if (logs === undefined) {
      logs = await fetcher.ofBlock(selection, blockHash, deadlineMs).catch(async (error: unknown) => {
        await this.#assertBlock(blockHash)
        throw translateError(error)
      })
      if (logs.length === 0) await this.#assertBlock(blockHash)
      else if (generation === head.generation) this.#ahead.set(key, { logs, coveredTo: 0 }, bytesOf(logs))
    }
    const start = after && { block: after.block, index: after.index + 1 }
    const rest = start ? logs.filter((log) => !isBefore(log, start)) : logs
    return Object.freeze(rest.slice(0, PAGE_LENGTH))
  }

  /**
   * Asks for the block: some nodes answer a query for an unknown block with an empty list.
   *
   * @throws ServiceError RPC_RESOURCE_NOT_FOUND
   */
  async #assertBlock(blockHash: string): Promise<void> {
    if (await this.#options.head.hasBlock(blockHash)) return
    throw new ServiceError('RPC_RESOURCE_NOT_FOUND', 'the node knows no block with this hash')
  }

  #lifetime(page: readonly Log[], to: number, { number: headNumber }: BlockRef): Lifetime {
    const last = page.at(-1)
    if (last === undefined) return 'never'
    const end = page.length === PAGE_LENGTH ? placeOf(last).block : to
    if (end <= headNumber - this.#options.confirmations) return 'final'
    return end <= headNumber ? 'head' : 'never'
  }
}

const rangeFault = () =>
  new ServiceError('RPC_INVALID_PARAMS', 'params/0/fromBlock lies after toBlock', {
    details: { field: 'params/0/fromBlock' },
  })

const takesLong = (cause: unknown) =>
  new ServiceError('RPC_LIMIT_EXCEEDED', 'the range takes long: ask again, and it goes on from here', { cause })

const keyOf = (selection: LogSelection, { block, index }: LogPlace) => `${selection.key} ${block}:${index}`

function isBefore(log: Log, { block, index }: LogPlace): boolean {
  const place = placeOf(log)
  return place.block < block || (place.block === block && place.index < index)
}

/** The number of logs that lie in blocks up to this one. */
function countUpTo(logs: readonly Log[], to: number): number {
  const last = logs.at(-1)
  if (last === undefined || placeOf(last).block <= to) return logs.length
  return logs.findIndex((log) => placeOf(log).block > to)
}

/** Reads paging keys: hex, with or without 0x. A number beyond any chain counts as the largest safe integer. */
function afterOf({ blockNumber, logIndex }: { blockNumber: string; logIndex: string }): LogPlace {
  return { block: fromHex(blockNumber), index: fromHex(logIndex) }
}

const fromHex = (text: string) => Math.min(Number.parseInt(text.replace(/^0x/, ''), 16), Number.MAX_SAFE_INTEGER - 1)

const bytesOf = (logs: readonly Log[]) =>
  logs.reduce((sum, { topics, data }) => sum + 800 + 100 * topics.length + data.length, 200)
