import { NodeFailure } from '../node-connection.ts'
import { UpstreamRpcError } from '../upstream.ts'
import type { Latencies } from './latencies.ts'
import type { Node } from './node.ts'

/** Calls that one slow call in so many pays for: hedges are at most this share of the reads. */
const SHARE = 0.1
const MOST_SAVED = 20

/** A call that takes so many times what is slow is lost, and not a matter of the budget any more. */
export const LOST_FACTOR = 3

/** What may be spent on asking a second node for what the first one is slow with. */
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
  /** Whether another node may know better than one that answers with this error. */
  readonly isPassing: (error: UpstreamRpcError) => boolean
  /** Whether a node may be sent the same again over a new connection. */
  readonly mayRepeat: boolean
  /** Told whose answer or error it is, before the promise settles. */
  readonly onNode?: ((node: Node) => void) | undefined
  readonly latencies: Latencies
  readonly budget: HedgeBudget
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number
}

/**
 * Asks one node after the other until one answers. One that is slow is not waited for alone: a second node is asked the
 * same. A node that has answered nothing at all since it was asked is taken for silent, and others go first from then on;
 * leaving it is not counted as a hedge.
 *
 * @throws UpstreamRpcError, NodeFailure: the last one when no node is left to ask
 */
export function askHedged<T>(hedged: Hedged<T>): Promise<T> {
  const { method, ask, latencies, budget, deadlineMs } = hedged
  budget.earn()
  return new Promise((resolve, reject) => {
    const asked = new Set<Node>()
    const timers = new Map<Node, NodeJS.Timeout>()
    const underWay = new Set<Node>()
    let isOver = false
    let hasRepeated = false
    let refusal: Error | undefined
    let failure: Error = new NodeFailure('no node can be asked', 'unreached')

    const end = (settle: () => void) => {
      isOver = true
      for (const timer of timers.values()) clearTimeout(timer)
      settle()
    }
    const askNext = (): boolean => {
      const node = hedged.candidates().find((one) => !asked.has(one))
      if (node !== undefined) begin(node)
      return node !== undefined
    }
    const begin = (node: Node) => {
      const begunMs = performance.now()
      asked.add(node)
      underWay.add(node)
      const slowAfterMs = Math.min(latencies.slowAfterMs(method), (deadlineMs - begunMs) / 4)
      const watch = (afterMs: number, isLost: boolean) => {
        const timer = setTimeout(() => {
          // An answer may lie in the socket, unread because this process was busy.
          setImmediate(() => {
            if (isOver || !underWay.has(node)) return
            if (!isSlow(node, begunMs, isLost)) watch(LOST_FACTOR * slowAfterMs, true)
          })
        }, afterMs)
        timers.set(node, timer)
      }
      watch(slowAfterMs, false)
      ask(node, Math.max(1, Math.ceil(deadlineMs - begunMs))).then(
        (answer) => {
          if (isOver) return
          latencies.record(method, performance.now() - begunMs)
          hedged.onNode?.(node)
          end(() => resolve(answer))
        },
        (error: unknown) => {
          clearTimeout(timers.get(node))
          underWay.delete(node)
          hasFailed(node, error as Error)
        },
      )
    }
    /** @returns whether another node was asked, or none is left to ask */
    const isSlow = (node: Node, begunMs: number, isLost: boolean): boolean => {
      const isSilent = node.heardMs < begunMs
      if (isSilent) node.fellSilent()
      else if (isLost) node.lostCall()
      else if (!budget.spend()) return false
      askNext()
      return true
    }
    const hasFailed = (node: Node, error: Error) => {
      if (error instanceof UpstreamRpcError) {
        if (isOver) return
        if (!hedged.isPassing(error)) {
          hedged.onNode?.(node)
          return end(() => reject(error))
        }
        refusal ??= error
      } else {
        const isLost = error instanceof NodeFailure && error.stage === 'lost'
        if (isLost && !hasRepeated && !isOver && hedged.mayRepeat) {
          // A connection that was kept alive may have been closed from the other side just now: a new one tells.
          hasRepeated = true
          return begin(node)
        }
        // It may be well again since another node has answered in its place.
        if (!isOver || !node.isWell) node.failed(error)
        if (isOver) return
        failure = error
      }
      if (askNext()) return
      const isHopeful = refusal ? [...underWay].some((one) => one.isWell) : underWay.size > 0
      if (!isHopeful) end(() => reject(refusal ?? failure))
    }
    if (!askNext()) end(() => reject(failure))
  })
}
