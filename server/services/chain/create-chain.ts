import type { Logger } from 'pino'
import { ServiceError } from '../../core/errors.ts'
import { numberOf, toData, toQuantity } from '../../ethereum/quantity.ts'
import { type CacheStatistics, ReadCache, type Lifetime, type Read } from './read-cache.ts'
import type { Chain } from './chain.ts'
import { HeadTracker, RECENT_MS, type BlockRef } from './head-tracker.ts'
import { LogFetcher } from './logs/fetcher.ts'
import { LogPager } from './logs/pager.ts'
import { NodeKind, type Upstream, translateErrors } from '../node/upstream.ts'
import { projectReceipt, projectTransaction } from './project.ts'
import { SingleFlight } from '../../concurrency/single-flight.ts'

export interface CreateChainOptions {
  readonly upstream: Upstream
  /** Blocks on top of a block after which it is held to be final. */
  readonly confirmations: number
  /** How old what answers a question may be, in milliseconds. Default 0: it was read after the question. */
  readonly headMaxAgeMs?: number
  /** Bytes of memory for answers, roughly. Default 64 MiB. */
  readonly cacheBytes?: number
  /** Bytes of memory for logs that were fetched ahead, roughly. Default 64 MiB. */
  readonly logBytes?: number
  /** How long a page of logs may take, in milliseconds. Default 20,000. */
  readonly logTimeoutMs?: number
  readonly log?: Logger
  /** Called when blocks that were seen are no longer part of the chain. */
  readonly onReorganised?: () => void
}

/** A chain that tells how much of it came from memory. */
export interface CachedChain extends Chain {
  /** How answers came about since the start; it grows while it is kept. */
  readonly cacheStatistics: Readonly<CacheStatistics>
  /** Drops everything that is kept, because the nodes say that blocks may be gone. */
  forget(): void
  /** Tells that the chain has a newer head than the last one seen: the next question asks the node, whatever its age. */
  headIsOld(): void
}

const MIB = 1024 * 1024

/** Reads the chain through an upstream; see {@link Chain}. */
export function createChain(options: CreateChainOptions): CachedChain {
  const { confirmations, headMaxAgeMs: maxAgeMs = 0, logTimeoutMs = 20_000 } = options
  const { cacheBytes = 64 * MIB, logBytes = 64 * MIB } = options
  const upstream = translateErrors(options.upstream)
  const flights = new SingleFlight()
  const statistics: CacheStatistics = { hits: 0, misses: 0, shared: 0 }
  const nodeKind = new NodeKind(options.upstream)
  const head = new HeadTracker({
    upstream,
    flights,
    maxAgeMs,
    log: options.log,
    listener: {
      // A development node may have changed its state without a block.
      stayed: () => maxAgeMs > 0 && nodeKind.mayRewind && cache.forgetHead(),
      moved: () => cache.forgetHead(),
      reorganised: () => {
        cache.clear()
        pager.reorganised()
        options.onReorganised?.()
        // The node may be of another chain now. If it is, the upstream refuses to ask it.
        id.forget()
        upstream.request('eth_chainId', []).catch(() => undefined)
      },
    },
  })
  const cache = new ReadCache(flights, head, {
    budgetBytes: cacheBytes,
    alwaysProve: () => nodeKind.mayRewind,
    statistics,
  })
  const pager = new LogPager({
    fetcher: new LogFetcher(options.upstream, flights),
    cache,
    head,
    confirmations,
    mayRewind: () => nodeKind.mayRewind,
    budgetBytes: logBytes,
    timeoutMs: logTimeoutMs,
  })
  const id = new ChainId(upstream, head, statistics)
  const sources: Sources = { upstream, flights, statistics, nodeKind, head, cache, confirmations, maxAgeMs }
  return {
    cacheStatistics: statistics,
    forget: () => head.forget(),
    headIsOld: () => head.outdate(),
    id: () => id.read(),
    blockNumber: async () => toQuantity((await head.current()).number) as string,
    ...quantityReads(sources),
    ...transactionReads(sources),
    logs: (filter) => pager.page(filter),
  }
}

/** The chain's id. It is asked once, and checked again when the chain was not heard of for a while. */
class ChainId {
  readonly #upstream: Upstream
  readonly #head: HeadTracker
  readonly #statistics: CacheStatistics
  #id: string | undefined
  #askedMs = 0

  constructor(upstream: Upstream, head: HeadTracker, statistics: CacheStatistics) {
    this.#upstream = upstream
    this.#head = head
    this.#statistics = statistics
  }

  forget(): void {
    this.#id = undefined
  }

  async read(): Promise<string> {
    const isOld = !this.#head.isRecent && performance.now() - this.#askedMs > RECENT_MS
    if (this.#id !== undefined && isOld) await this.#prove()
    if (this.#id !== undefined) {
      this.#statistics.hits++
      return this.#id
    }
    this.#statistics.misses++
    this.#askedMs = performance.now()
    return (this.#id = await readQuantity(this.#upstream, 'eth_chainId'))
  }

  /** Checks that the chain is still the same. A node that does not answer proves nothing. */
  async #prove(): Promise<void> {
    try {
      await this.#head.probe()
    } catch (error) {
      if (error instanceof ServiceError && error.details['wrongChain'] === true) throw error
    }
  }
}

interface Sources {
  readonly upstream: Upstream
  readonly flights: SingleFlight
  readonly statistics: CacheStatistics
  readonly nodeKind: NodeKind
  readonly head: HeadTracker
  readonly cache: ReadCache
  readonly confirmations: number
  readonly maxAgeMs: number
}

/** Prices and balances. */
function quantityReads(sources: Sources): Pick<Chain, 'gasPrice' | 'maxPriorityFeePerGas' | 'balance'> {
  const { upstream, flights, statistics, nodeKind, head, cache, confirmations, maxAgeMs } = sources

  /**
   * Reads what holds while the head stays. On a development node it does not, since `hardhat_setBalance` needs no block:
   * it holds until the next look at the head, where answers may have an age, and not at all where they may not.
   */
  async function readAtBlock(
    call: readonly [string, ...unknown[]],
    lifetime: Read<string>['lifetime'],
  ): Promise<string> {
    const key = call.join(' ')
    const fetch = () => readQuantity(upstream, ...call)
    if (!(await nodeKind.isDevelopment())) return cache.read({ key, fetch, lifetime })
    if (maxAgeMs > 0) {
      const notFinal = (answer: string, at: BlockRef) => {
        const proper = lifetime(answer, at)
        return proper === 'final' ? 'head' : proper
      }
      return cache.read({ key, fetch, lifetime: notFinal })
    }
    return flights.fresh(key, () => {
      statistics.misses++
      return fetch()
    })
  }

  const readAtHead = (...call: [string, ...unknown[]]) => readAtBlock(call, () => 'head')

  async function balanceAtNumber(address: string, block: number | string): Promise<string> {
    const number = Number(block)
    if (number > (head.last?.number ?? -1) && number > (await head.probe()).number) {
      throw new ServiceError('RPC_RESOURCE_NOT_FOUND', `the chain has no block ${BigInt(block)} yet`)
    }
    const lifetime = (_balance: string, at: BlockRef) => lifetimeOfBlock(number, at, confirmations)
    return readAtBlock(['eth_getBalance', address, toQuantity(number)], lifetime)
  }

  return {
    gasPrice: () => readAtHead('eth_gasPrice'),
    maxPriorityFeePerGas: () => readAtHead('eth_maxPriorityFeePerGas'),
    balance: async (address, block) => {
      const account = String(toData(address))
      if (numberOf(block) !== undefined) return balanceAtNumber(account, block)
      if (block === 'latest') return readAtHead('eth_getBalance', account, 'latest')
      const fetch = () => readQuantity(upstream, 'eth_getBalance', account, block)
      return flights.fresh(`eth_getBalance ${account} ${block}`, fetch)
    },
  }
}

/** Reads transactions and receipts by hash. */
function transactionReads({ upstream, cache, confirmations }: Sources): Pick<Chain, 'transaction' | 'receipt'> {
  /**
   * A mined transaction is kept. A pending or unknown one may be mined at any time, and one that lacks a member is
   * incomplete: neither is kept.
   */
  const lifetime = (mined: { blockNumber: string | null } | null, at: BlockRef): Lifetime => {
    const isWhole = typeof mined?.blockNumber === 'string' && Object.values(mined).every((value) => value !== undefined)
    return isWhole ? lifetimeOfBlock(Number(mined.blockNumber), at, confirmations) : 'never'
  }

  function readByHash<T extends { readonly blockNumber: string | null }>(
    method: string,
    hash: string,
    project: (raw: unknown) => T | null,
    hashOf: (found: T) => unknown,
  ): Promise<T | null> {
    const asked = String(toData(hash))
    const fetch = async () => {
      const found = project(await upstream.request(method, [asked]))
      // The answer is about another transaction: something between the node and the server has mixed up answers.
      if (found !== null && (typeof found !== 'object' || hashOf(found) !== asked)) throw unusable(method, found)
      return freeze(found)
    }
    return cache.read({ key: `${method} ${asked}`, fetch, lifetime })
  }

  return {
    transaction: (hash) => readByHash('eth_getTransactionByHash', hash, projectTransaction, (found) => found.hash),
    receipt: (hash) => readByHash('eth_getTransactionReceipt', hash, projectReceipt, (found) => found.transactionHash),
  }
}

function lifetimeOfBlock(number: number, { number: headNumber }: BlockRef, confirmations: number): Lifetime {
  if (number > headNumber) return 'unproven'
  return number <= headNumber - confirmations ? 'final' : 'head'
}

/** @throws ServiceError UPSTREAM_UNAVAILABLE the answer is no quantity */
async function readQuantity(upstream: Upstream, method: string, ...params: unknown[]): Promise<string> {
  const answer = toQuantity(await upstream.request(method, params))
  if (typeof answer !== 'string' || !QUANTITY.test(answer)) throw unusable(method, answer)
  return answer
}

function freeze<T extends object | null>(value: T): T {
  return value === null ? value : Object.freeze(value)
}

const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/

const unusable = (method: string, answer: unknown) =>
  new ServiceError('UPSTREAM_UNAVAILABLE', `the node answers ${method} with ${JSON.stringify(answer).slice(0, 40)}`, {
    retryAfterSeconds: 1,
  })
