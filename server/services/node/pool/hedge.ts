import { NodeFailure } from '../node-connection.ts'
import { UpstreamRpcError } from '../upstream.ts'
import type { Latencies } from './latencies.ts'
import type { Node } from './node.ts'

/** The most hedges, as a share of all reads. */
const SHARE = 0.1
const MOST_SAVED = 20

/** A call that takes so many times as long as a slow one is lost: a second node is asked, whatever the budget says. */
export const LOST_FACTOR = 3

/** How many slow calls a second node may be asked too. Each read adds {@link SHARE} of a hedge. */
export class HedgeBudget {
  #saved = MOST_SAVED
  /** Hedges so far. */
  spent = 0

  earn(): void {
    if (this.#saved < MOST_SAVED) this.#saved += SHARE
  }

  spend(): boolean {
    if (this.#saved < 1) return false
    this.#saved--
    this.spent++
    return true
  }
}

export interface Hedged<T> {
  readonly method: string
  /** The nodes that may be asked now, the best first. */
  readonly candidates: () => readonly Node[]
  /** @throws UpstreamRpcError, NodeFailure */
  readonly ask: (node: Node, timeoutMs: number) => Promise<T>
  /** Whether another node may answer better than one that answers with this error. */
  readonly isPassing: (error: UpstreamRpcError) => boolean
  /** Whether the same node may be sent the call again over a new connection. */
  readonly mayRepeat: boolean
  /** Called with the node whose answer or error it is, before the promise settles. */
  readonly onNode?: ((node: Node) => void) | undefined
  readonly latencies: Latencies
  readonly budget: HedgeBudget
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number
}

/**
 * Asks one node after the other until one answers. When a node is slow, a second one is asked the same (a hedge). A
 * node that has answered nothing at all since it was asked is silent: other nodes are asked first from then on, and
 * asking them instead does not count as a hedge.
 *
 * @throws UpstreamRpcError, NodeFailure: the last one when no node is left to ask
 */
export async function askHedged<T>(hedged: Hedged<T>): Promise<T> {
  hedged.budget.earn()
  return new HedgedCall(hedged).ask()
}

class HedgedCall<T> {
  readonly #hedged: Hedged<T>
  readonly #asked = new Set<Node>()
  readonly #timers = new Map<Node, NodeJS.Timeout>()
  readonly #underWay = new Set<Node>()
  readonly #settling = Promise.withResolvers<T>()
  #isOver = false
  #hasRepeated = false
  #refusal: Error | undefined
  #failure: Error = new NodeFailure('no node can be asked', 'unreached')

  constructor(hedged: Hedged<T>) {
    this.#hedged = hedged
  }

  ask(): Promise<T> {
    if (!this.#askNext()) this.#reject(this.#failure)
    return this.#settling.promise
  }

  #reject(error: Error): void {
    this.#end()
    this.#settling.reject(error)
  }

  #end(): void {
    this.#isOver = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  /** @returns false: no node is left to ask */
  #askNext(): boolean {
    const node = this.#hedged.candidates().find((one) => !this.#asked.has(one))
    if (node !== undefined) this.#begin(node)
    return node !== undefined
  }

  #begin(node: Node): void {
    const { method, ask, latencies, deadlineMs, onNode } = this.#hedged
    const begunMs = performance.now()
    this.#asked.add(node)
    this.#underWay.add(node)
    this.#watch(node, begunMs, Math.min(latencies.slowAfterMs(method), (deadlineMs - begunMs) / 4))
    ask(node, Math.max(1, Math.ceil(deadlineMs - begunMs))).then(
      (answer) => {
        if (this.#isOver) return
        latencies.record(method, performance.now() - begunMs)
        onNode?.(node)
        this.#end()
        this.#settling.resolve(answer)
      },
      (error: unknown) => {
        clearTimeout(this.#timers.get(node))
        this.#underWay.delete(node)
        this.#hasFailed(node, error as Error)
      },
    )
  }

  /** Checks a node when its call is slow, and again when its call is lost. */
  #watch(node: Node, begunMs: number, slowAfterMs: number): void {
    const lookAfter = (afterMs: number, isLost: boolean) => {
      const timer = setTimeout(() => {
        // The answer may have arrived while this process was busy: let it be read first.
        setImmediate(() => {
          if (this.#isOver || !this.#underWay.has(node)) return
          if (!this.#isSlow(node, begunMs, isLost)) lookAfter(LOST_FACTOR * slowAfterMs, true)
        })
      }, afterMs)
      this.#timers.set(node, timer)
    }
    lookAfter(slowAfterMs, false)
  }

  /** @returns whether another node was asked, or none is left to ask */
  #isSlow(node: Node, begunMs: number, isLost: boolean): boolean {
    const isSilent = node.heardMs < begunMs
    if (isSilent) node.fellSilent()
    else if (isLost) node.lostCall()
    else if (!this.#hedged.budget.spend()) return false
    this.#askNext()
    return true
  }

  #hasFailed(node: Node, error: Error): void {
    if (error instanceof UpstreamRpcError) {
      if (this.#isOver) return
      if (!this.#hedged.isPassing(error)) {
        this.#hedged.onNode?.(node)
        return this.#reject(error)
      }
      this.#refusal ??= error
    } else {
      const isLost = error instanceof NodeFailure && error.stage === 'lost'
      if (isLost && !this.#hasRepeated && !this.#isOver && this.#hedged.mayRepeat) {
        // The node may have closed the idle connection just now. A new connection shows whether the node answers.
        this.#hasRepeated = true
        return this.#begin(node)
      }
      // If another node has answered in its place, this node may have recovered meanwhile.
      if (!this.#isOver || !node.isWell) node.failed(error)
      if (this.#isOver) return
      this.#failure = error
    }
    if (this.#askNext()) return
    const isHopeful = this.#refusal ? [...this.#underWay].some((one) => one.isWell) : this.#underWay.size > 0
    if (!isHopeful) this.#reject(this.#refusal ?? this.#failure)
  }
}
