import type { Logger } from 'pino'
import { isRaw, toData, toQuantity, type Raw } from '../../../ethereum/quantity.ts'
import { NodeFailure } from '../node-connection.ts'
import { UpstreamRpcError } from '../upstream.ts'
import type { Node } from './node.ts'

/** A block as a node tells it. */
export interface NodeBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** The block as the node sent it. */
  readonly raw: Raw
}

export interface HeadsOptions {
  readonly nodes: readonly Node[]
  readonly timeoutMs: number
  readonly log: Logger | undefined
  /** Called when blocks that were answered are no longer part of the chain. */
  readonly onReorganised: () => void
}

/** What is known of a node's head. */
interface Placed {
  readonly block: NodeBlock
  /** Whether the node's chain contains the mark. */
  readonly isOnChain: boolean
  /** How many looks in a row have shown a head below the mark, after the node had the mark. */
  readonly retreats: number
}

/** A node that is more blocks behind than this is not asked. */
export const MOST_BEHIND = 1
/** The time between two looks is half of that between two blocks, within these bounds. */
const LEAST_LOOK_MS = 100
const MOST_LOOK_MS = 1_000
/** A node that does not tell its head within this time is taken to have none. */
const LOOK_TIMEOUT_MS = 1_000
/** A wait is divided into so many timers: see {@link orAfter}. */
const PARTS = 4
/** Another chain is followed when it has grown by so many blocks while the mark stood still. */
const OVERTAKING = 3
/** The mark is given up after so many retreats. A single one proves little: several nodes may share a URL, and one may lag. */
const ENOUGH_RETREATS = 2
/** Another node is preferred to the first one of the list only when its cost is so many times less. */
const PREFERENCE = 2

/**
 * The heads of several nodes, and the chain that callers are answered from. The mark is the best head that was seen on
 * that chain. It goes back only when the nodes agree that the block is gone.
 */
export class Heads {
  readonly #options: HeadsOptions
  readonly #placed = new Map<Node, Placed>()
  readonly #looking = new Map<Node, Promise<unknown>>()
  #mark: NodeBlock | undefined
  /** The last mark on which the other nodes were heard. */
  #weighedMark: NodeBlock | undefined
  #weighing: PromiseWithResolvers<void> | undefined
  #markedAtMs = 0
  /** Heads of the nodes on other chains at the time of the mark. */
  #othersAtMark = new Map<Node, number>()
  readonly #toldForks = new Set<Node>()
  #blockMs = 2 * MOST_LOOK_MS
  #lookedMs = -Infinity

  constructor(options: HeadsOptions) {
    this.#options = options
  }

  /** The best head seen; undefined while no node has told one. */
  get mark(): NodeBlock | undefined {
    return this.#mark
  }

  /** The nodes that may be asked, in this order: those that have the mark, then those that are one block behind. */
  candidates(): Node[] {
    const { nodes } = this.#options
    const usable = nodes.filter((node) => node.isWell && this.isClose(node))
    if (usable.length < 2) return usable
    const cost = (node: Node) => node.cost * (node === nodes[0] ? 1 : PREFERENCE)
    return usable.sort((one, other) => this.#lag(one) - this.#lag(other) || cost(one) - cost(other))
  }

  /** How many blocks a node is behind the mark; undefined when its head is not known. */
  lagOf(node: Node | undefined): number | undefined {
    const placed = node && this.#placed.get(node)
    return placed && this.#mark && this.#mark.number - placed.block.number
  }

  headOf(node: Node): number | undefined {
    return this.#placed.get(node)?.block.number
  }

  /** Whether a node follows another chain than the one that is answered. */
  isOnFork(node: Node): boolean {
    return this.#placed.get(node)?.isOnChain === false
  }

  /**
   * Begins a look at all heads when the last look is too long ago.
   *
   * @returns the look, when the last one is so old that this one has to be waited for; undefined otherwise
   */
  freshen(): Promise<void> | undefined {
    const ageMs = performance.now() - this.#lookedMs
    const validMs = Math.min(Math.max(this.#blockMs / 2, LEAST_LOOK_MS), MOST_LOOK_MS)
    if (ageMs < validMs) return undefined
    const look = this.look()
    return ageMs < 2 * validMs ? undefined : look
  }

  /**
   * Asks the nodes for their heads, and does not wait long for a silent node.
   *
   * @param isUrgent no node can be asked now: nodes that do not answer are tried, too
   * @param isFresh a question that is under way already does not count, and a node that has only been slow is asked, too
   */
  async look(isUrgent = false, isFresh = false): Promise<void> {
    this.#lookedMs = performance.now()
    const isWanted = (node: Node) => isUrgent || node.isWell || (isFresh && this.#isVoter(node))
    const asked = this.#options.nodes.filter((node) => !node.isForeign && !node.isResting && isWanted(node))
    const answers = asked.map((node) => this.#headOf(node, isFresh))
    // At the start, the first node of the list that tells its head is believed, and not the fastest one.
    if (this.#mark === undefined) await Promise.all(answers)
    const observed = asked.map(async (node, index) => {
      const answer = await answers[index]
      if (answer !== undefined) await this.observe(node, answer).catch((error: unknown) => node.failed(error as Error))
    })
    await Promise.all(observed)
    await this.#judge()
  }

  /**
   * Waits until the other nodes were heard on the mark: a block that only one node has shown may be on a fork.
   *
   * @param slowAfterMs with two nodes, the other one is waited for this long, because neither can outvote the other. With three
   *   and more, nodes on a fork are outvoted as soon as the others answer
   */
  async weighed(slowAfterMs: number): Promise<void> {
    if (this.#mark === this.#weighedMark) return
    if (this.#weighing === undefined) {
      const weighing = (this.#weighing = Promise.withResolvers<void>())
      const mostMs = this.#options.nodes.length > 2 ? LOOK_TIMEOUT_MS : slowAfterMs
      // The answer to a question that was asked before the mark was seen tells nothing of the mark.
      void orAfter(this.look(false, true), mostMs).finally(() => {
        if (this.#weighing === weighing) this.#endWeighing()
      })
    }
    await this.#weighing.promise
  }

  #endWeighing(): void {
    this.#weighedMark = this.#mark
    this.#weighing?.resolve()
    this.#weighing = undefined
  }

  /**
   * Takes a node's answer to the question for its head.
   *
   * @throws NodeFailure the answer is no block
   */
  async observe(node: Node, answer: unknown): Promise<void> {
    const block = toNodeBlock(answer)
    if (block !== undefined) return this.#place(node, block)
    this.#placed.delete(node)
    // While no node has told a head, all nodes are treated alike.
    if (this.#mark !== undefined) throw new NodeFailure('the head is no block')
  }

  /** @returns undefined when the node does not answer */
  async #headOf(node: Node, isFresh: boolean): Promise<unknown> {
    let looking = isFresh ? undefined : this.#looking.get(node)
    if (looking === undefined) {
      const asking = this.#askHead(node).finally(() => {
        if (this.#looking.get(node) === asking) this.#looking.delete(node)
      })
      looking = asking
      this.#looking.set(node, asking)
    }
    const begunMs = performance.now()
    const answer = await orAfter(looking, LOOK_TIMEOUT_MS)
    if (answer === undefined && this.#looking.has(node) && node.heardMs < begunMs) node.fellSilent(LOOK_TIMEOUT_MS)
    return answer
  }

  async #askHead(node: Node): Promise<unknown> {
    const begunMs = performance.now()
    try {
      const answer = await node.call('eth_getBlockByNumber', ['latest', false], this.#options.timeoutMs)
      node.looked(performance.now() - begunMs)
      return answer
    } catch (error) {
      if (error instanceof UpstreamRpcError) return null
      node.failed(error as Error)
      return undefined
    }
  }

  async #place(node: Node, block: NodeBlock): Promise<void> {
    for (;;) {
      const mark = this.#mark
      if (mark === undefined) {
        this.#setMark(block)
        this.#placed.set(node, { block, isOnChain: true, retreats: 0 })
        return
      }
      const isOnChain = await this.#isOnChain(node, block, mark)
      if (this.#mark !== mark) continue
      const before = this.#placed.get(node)
      const hasRetreated =
        block.number < mark.number &&
        before?.isOnChain === true &&
        (before.retreats > 0 || before.block.hash === mark.hash)
      this.#placed.set(node, { block, isOnChain, retreats: hasRetreated ? (before?.retreats ?? 0) + 1 : 0 })
      if (isOnChain && block.number > mark.number) this.#setMark(block)
      const voters = this.#options.nodes.filter((one) => this.#isVoter(one))
      if (this.#holders().length * 2 > voters.length) this.#endWeighing()
      return
    }
  }

  /** Whether a node is heard before the mark is believed. With three and more nodes, a node that was only slow is heard, too. */
  #isVoter(node: Node): boolean {
    return node.isWell || (this.#options.nodes.length > 2 && node.mayAnswer)
  }

  async #isOnChain(node: Node, block: NodeBlock, mark: NodeBlock): Promise<boolean> {
    if (block.number === mark.number) return block.hash === mark.hash
    if (block.number === mark.number - 1) return block.hash === mark.parentHash
    // The node is too far behind to be asked. On which chain it is will be seen when it has come closer.
    if (block.number < mark.number) return true
    if (block.parentHash === mark.hash) return true
    const there = toNodeBlock(
      await node.call('eth_getBlockByNumber', [toHex(mark.number), false], this.#options.timeoutMs),
    )
    return there?.hash === mark.hash
  }

  #setMark(block: NodeBlock): void {
    const nowMs = performance.now()
    const before = this.#mark
    if (before !== undefined && block.number > before.number) {
      this.#blockMs += 0.2 * ((nowMs - this.#markedAtMs) / (block.number - before.number) - this.#blockMs)
    }
    this.#mark = block
    this.#markedAtMs = nowMs
    this.#othersAtMark = new Map(
      [...this.#placed].filter(([, { isOnChain }]) => !isOnChain).map(([node, placed]) => [node, placed.block.number]),
    )
  }

  /** Decides whether another chain is followed from now on. */
  async #judge(): Promise<void> {
    const mark = this.#mark
    if (mark === undefined) return
    const told = [...this.#placed].filter(([node]) => node.isWell)
    const holders = this.#holders()
    const others = told.filter(([, { isOnChain }]) => !isOnChain)
    this.#tell(others.map(([node]) => node))
    const best = highest(others)
    if (best) {
      const allies = await this.#alliesOf(best, others)
      const isStanding = holders.length > 0
      const wasAt = this.#othersAtMark.get(best[0]) ?? best[1].block.number
      const overtakes = best[1].block.number > mark.number + MOST_BEHIND && best[1].block.number - wasAt >= OVERTAKING
      if (this.#mark !== mark) return
      if (!isStanding || allies > holders.length || (allies === holders.length && overtakes)) this.#switchTo(best)
      return
    }
    if (holders.length > 0 || told.length === 0) return
    const retreated = told.filter(([, { retreats }]) => retreats >= ENOUGH_RETREATS)
    const top = highest(retreated)
    if (top) this.#switchTo(top)
  }

  /** The nodes that have the mark, and answer. */
  #holders(): Node[] {
    const number = this.#mark?.number ?? Infinity
    const holding = [...this.#placed].filter(([, { block, isOnChain }]) => isOnChain && block.number >= number)
    return holding.map(([node]) => node).filter(({ isWell }) => isWell)
  }

  /** How many nodes are on the same chain as this node, itself included. */
  async #alliesOf(
    [first, { block }]: readonly [Node, Placed],
    others: readonly (readonly [Node, Placed])[],
  ): Promise<number> {
    const same = await Promise.all(
      others.map(async ([node, placed]) => {
        if (node === first || placed.block.hash === block.hash || placed.block.hash === block.parentHash) return true
        // They are on one chain when the higher node has the lower node's block.
        const there = await first
          .call('eth_getBlockByNumber', [toHex(placed.block.number), false], LOOK_TIMEOUT_MS)
          .catch(() => null)
        return toNodeBlock(there)?.hash === placed.block.hash
      }),
    )
    return same.filter(Boolean).length
  }

  #switchTo([node, { block }]: readonly [Node, Placed]): void {
    const { log, onReorganised } = this.#options
    const from = this.#mark
    log?.warn(
      { from: from && nameOf(from), to: nameOf(block), node: node.name },
      'the nodes have given up the head: the chain was reorganised',
    )
    this.#placed.clear()
    this.#mark = undefined
    this.#setMark(block)
    this.#placed.set(node, { block, isOnChain: true, retreats: 0 })
    this.#lookedMs = -Infinity
    onReorganised()
  }

  /** Logs a line when a node leaves the mark's chain, and one when it is back. */
  #tell(others: readonly Node[]): void {
    for (const node of others) {
      if (this.#toldForks.has(node)) continue
      this.#toldForks.add(node)
      this.#options.log?.error({ node: node.name }, 'the node is on another fork than the others: not used')
    }
    for (const node of this.#toldForks) {
      if (others.includes(node) || !node.isWell) continue
      this.#toldForks.delete(node)
      this.#options.log?.info({ node: node.name }, 'the node is on the same chain as the others again')
    }
  }

  /** Whether a node is on the mark's chain, and at most {@link MOST_BEHIND} blocks behind the mark. */
  isClose(node: Node): boolean {
    if (this.#mark === undefined) return true
    const placed = this.#placed.get(node)
    return placed?.isOnChain === true && this.#mark.number - placed.block.number <= MOST_BEHIND
  }

  #lag(node: Node): number {
    return Math.max(0, this.lagOf(node) ?? 0)
  }
}

/** @returns undefined for what is no block */
export function toNodeBlock(raw: unknown): NodeBlock | undefined {
  if (!isRaw(raw)) return undefined
  const [number, hash, parentHash] = [toQuantity(raw['number']), toData(raw['hash']), toData(raw['parentHash'])]
  if (typeof number !== 'string' || typeof hash !== 'string' || typeof parentHash !== 'string') return undefined
  return Number.isSafeInteger(Number(number)) ? { number: Number(number), hash, parentHash, raw } : undefined
}

/**
 * Resolves like the work, or with undefined after this time; the work runs on. When this process itself stood still for a
 * while, that proves nothing about the node: the while counts as one part of the time at most, and answers that arrived
 * meanwhile are read first.
 */
export function orAfter<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout
    const wait = (partsLeft: number) => {
      timer = setTimeout(() => (partsLeft > 1 ? wait(partsLeft - 1) : setImmediate(resolve, undefined)), ms / PARTS)
    }
    wait(PARTS)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}

function highest(placed: readonly (readonly [Node, Placed])[]): readonly [Node, Placed] | undefined {
  return placed.reduce<readonly [Node, Placed] | undefined>(
    (best, one) => (best && best[1].block.number >= one[1].block.number ? best : one),
    undefined,
  )
}

const toHex = (number: number) => `0x${number.toString(16)}`

const nameOf = ({ number, hash }: NodeBlock) => ({ number, hash })
