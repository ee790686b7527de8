import { type FailureStage, NodeFailure } from '../node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../upstream.ts'
import type { Node } from './node.ts'

/** The most hedges, as a share of all reads. */
const SHARE = 0.1
const MOST_SAVED = 20

/** A call that takes so many times as long as a slow one is lost: a second node is asked, whatever the budget says. */
const LOST_FACTOR = 3

/** Stages of failures after which the node cannot know of the call, or lacks what it asks for. */
const UNASKED: ReadonlySet<FailureStage> = new Set(['waiting', 'unreached', 'behind'])

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
  readonly nodes: readonly Node[]
  /** The nodes that may be asked now, the best first. */
  readonly candidates: () => readonly Node[]
  /** Learns anew which nodes may be asked. */
  readonly look: () => Promise<void>
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
 * asking them instead does not count as a hedge. When no node is left to ask, what is known of the others may be old: they
 * are looked at once more.
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
  /** Nodes that may be asked again after a look. */
  readonly #unasked = new Set<Node>()
  /** What ends the looks at a node. */
  readonly #watches = new Map<Node, () => void>()
  readonly #underWay = new Set<Node>()
  readonly #settling = Promise.withResolvers<T>()
  #isOver = false
  #hasRepeated = false
  #hasLooked = false
  #isLooking = false
  #refusal: Error | undefined
  #failure: Error = new NodeFailure('no node can be asked', 'unreached')

  constructor(hedged: Hedged<T>) {
    this.#hedged = hedged
  }

  ask(): Promise<T> {
    if (!this.#askNext()) void this.#askAfterLook()
    return this.#settling.promise
  }

  /** Asks a node that a new look finds fit; without one, the call fails. */
  async #askAfterLook(): Promise<void> {
    if (this.#isLooking) return
    if (this.#isWorthALook()) {
      this.#hasLooked = true
      this.#isLooking = true
      await this.#hedged.look()
      this.#isLooking = false
      for (const node of this.#unasked) this.#asked.delete(node)
      if (this.#isOver || this.#askNext()) return
    }
    this.#reject(this.#refusal ?? this.#failure)
  }

  #isWorthALook(): boolean {
    if (this.#hasLooked || performance.now() >= this.#hedged.deadlineMs) return false
    const isUnasked = (node: Node) => !this.#asked.has(node) || this.#unasked.has(node)
    return this.#hedged.nodes.some((node) => isUnasked(node) && !node.isForeign && !node.isResting)
  }

  #reject(error: Error): void {
    this.#end()
    this.#settling.reject(error)
  }

  #end(): void {
    this.#isOver = true
    for (const stop of this.#watches.values()) stop()
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
    const slowAfterMs = Math.min(latencies.slowAfterMs(method), (deadlineMs - begunMs) / 4)
    const look = (again?: () => void) => {
      if (this.#isOver || !this.#underWay.has(node)) return
      if (!this.#isSlow(node, begunMs, again === undefined)) again?.()
    }
    this.#watches.set(node, lookTwice(slowAfterMs, look))
    ask(node, Math.max(1, Math.ceil(deadlineMs - begunMs))).then(
      (answer) => {
        if (this.#isOver) return
        latencies.record(method, performance.now() - begunMs)
        onNode?.(node)
        this.#end()
        this.#settling.resolve(answer)
      },
      (error: unknown) => {
        this.#watches.get(node)?.()
        this.#underWay.delete(node)
        this.#hasFailed(node, error as Error)
      },
    )
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
      if (error instanceof NodeFailure && UNASKED.has(error.stage)) this.#unasked.add(node)
      this.#failure = error
    }
    if (this.#askNext()) return
    const isHopeful = this.#refusal ? [...this.#underWay].some((one) => one.isWell) : this.#underWay.size > 0
    if (!isHopeful) void this.#askAfterLook()
  }
}

interface SendTogether {
  readonly calls: readonly UpstreamCall[]
  /** The nodes that may be asked now, the best first. */
  readonly candidates: () => readonly Node[]
  readonly latencies: Latencies
  readonly budget: HedgeBudget
  readonly timeoutMs: number
  readonly traceparent: string | undefined
}

const SEND = 'eth_sendRawTransaction'

type Outcome = PromiseSettledResult<unknown>

/**
 * Hands signed transactions of one account to a node, in their order. When the node is slow or fails, a second node gets
 * all of them in the same order. A transaction that two nodes get is still mined once.
 *
 * @returns the outcome of each transaction: that of the first node that takes it
 */
export function sendTogether(sending: SendTogether): readonly Promise<Outcome>[] {
  const { calls, latencies, budget, timeoutMs, traceparent } = sending
  const results = calls.map(() => Promise.withResolvers<Outcome>())
  const open = new Set(calls.keys())
  const asked = new Set<Node>()
  /** The last refusal of each call, by its index. */
  const refused = new Map<number, Outcome>()
  const waiting = calls.map(() => new Set<Node>())

  const settle = (index: number, outcome: Outcome) => {
    open.delete(index)
    results[index]?.resolve(outcome)
  }
  const sendToNext = (): boolean => {
    const node = sending.candidates().find((one) => !asked.has(one))
    if (node !== undefined) sendTo(node)
    return node !== undefined
  }
  const sendTo = (node: Node) => {
    asked.add(node)
    const begunMs = performance.now()
    const slowAfterMs = Math.min(latencies.slowAfterMs(SEND), timeoutMs / 4)
    const stop = lookTwice(slowAfterMs, (again) => isSlow(node, begunMs, again))
    const outcomes = node.callTogether(calls, timeoutMs, traceparent)
    for (const [index, asking] of outcomes.entries()) {
      waiting[index]?.add(node)
      void asking.then((outcome) => hear(index, node, outcome, begunMs))
    }
    void Promise.all(outcomes).then(stop)
  }
  const isSlow = (node: Node, begunMs: number, again?: () => void) => {
    if (open.size === 0) return
    const isSilent = node.heardMs < begunMs
    if (isSilent) node.fellSilent()
    if (isSilent || again === undefined || budget.spend()) sendToNext()
    else again()
  }
  const hear = (index: number, node: Node, outcome: Outcome, begunMs: number) => {
    waiting[index]?.delete(node)
    if (!open.has(index)) return
    if (outcome.status === 'fulfilled') {
      latencies.record(SEND, performance.now() - begunMs)
      return settle(index, outcome)
    }
    const isRefusal = outcome.reason instanceof UpstreamRpcError
    if (!isRefusal && outcome.reason instanceof NodeFailure) {
      node.failed(outcome.reason)
      sendToNext()
    }
    if (isRefusal || !refused.has(index)) refused.set(index, outcome)
    const others = [...(waiting[index] ?? [])]
    // A silent node is not waited for: the caller asks the chain whether the transaction is there.
    if (!others.some((one) => one.isWell)) settle(index, refused.get(index) ?? outcome)
  }
  if (!sendToNext()) {
    const reason = new NodeFailure('no node can be asked', 'unreached')
    for (const index of calls.keys()) settle(index, { status: 'rejected', reason })
  }
  return results.map(({ promise }) => promise)
}

/**
 * Calls `look` when a call is slow. `look` gets a function that has it called once more, without such a function, when the
 * call is lost.
 *
 * @returns ends the looks
 */
function lookTwice(slowAfterMs: number, look: (again?: () => void) => void): () => void {
  // The answer may have arrived while this process was busy: let it be read first.
  const lookAfter = (afterMs: number, again?: () => void) => setTimeout(() => setImmediate(() => look(again)), afterMs)
  let timer = lookAfter(slowAfterMs, () => {
    timer = lookAfter(LOST_FACTOR * slowAfterMs)
  })
  return () => clearTimeout(timer)
}

/** Samples per method: enough for a 95th percentile, few enough to follow a change within seconds. */
const SAMPLES = 128
/** With fewer samples a constant is used in place of the percentile. */
const ENOUGH = 20
/** The percentile is calculated again after so many samples. */
const STEP = 16

const LEAST_MS = 10
const MOST_MS = 2_000
const UNKNOWN_MS = 250
/** eth_getLogs reads much at once, and may take long. */
const UNKNOWN_LOGS_MS = MOST_MS

interface Samples {
  readonly ring: number[]
  count: number
  p95Ms: number
}

/** How long answered calls took, by method. */
export class Latencies {
  readonly #samples = new Map<string, Samples>()

  record(method: string, durationMs: number): void {
    let samples = this.#samples.get(method)
    if (samples === undefined) {
      samples = { ring: [], count: 0, p95Ms: method === 'eth_getLogs' ? UNKNOWN_LOGS_MS : UNKNOWN_MS }
      this.#samples.set(method, samples)
    }
    samples.ring[samples.count++ % SAMPLES] = durationMs
    if (samples.count < ENOUGH || samples.count % STEP !== 0) return
    const sorted = samples.ring.toSorted((one, other) => one - other)
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? UNKNOWN_MS
    samples.p95Ms = Math.min(Math.max(p95, LEAST_MS), MOST_MS)
  }

  /** Milliseconds after which a call is slow: of 20 calls of this method 19 were answered by then. */
  slowAfterMs(method: string): number {
    return this.#samples.get(method)?.p95Ms ?? (method === 'eth_getLogs' ? UNKNOWN_LOGS_MS : UNKNOWN_MS)
  }
}
