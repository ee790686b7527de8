import type { Logger } from 'pino'
import { NodeFailure, type NodeConnection } from './node-connection.ts'

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 15_000

interface State {
  healthy: boolean
  wrongChain: boolean
  retryMs: number
  timer: NodeJS.Timeout | undefined
}

/** Knows which of several nodes can be used, and brings failed ones back. */
export class NodeHealth {
  readonly #states: Map<NodeConnection, State>
  readonly #timeoutMs: number
  readonly #log: Logger | undefined
  #order: readonly NodeConnection[]
  #chainId: string | undefined
  #verified: Promise<unknown> | undefined
  #closed = false

  constructor(nodes: readonly NodeConnection[], timeoutMs: number, log: Logger | undefined) {
    this.#timeoutMs = timeoutMs
    this.#log = log
    this.#states = new Map(
      nodes.map((node) => [node, { healthy: true, wrongChain: false, retryMs: FIRST_RETRY_MS, timer: undefined }]),
    )
    this.#order = [...nodes]
    // With one node there is nothing to compare.
    if (nodes.length === 1) this.#verified = Promise.resolve()
  }

  /** In the order in which to try them: failed nodes come last, those of another chain not at all. */
  async candidates(): Promise<readonly NodeConnection[]> {
    this.#verified ??= this.#verifyAll()
    await this.#verified
    return this.#order
  }

  succeeded(node: NodeConnection): void {
    const state = this.#stateOf(node)
    if (state.healthy) return
    clearTimeout(state.timer)
    Object.assign(state, { healthy: true, retryMs: FIRST_RETRY_MS, timer: undefined })
    this.#sort()
    this.#log?.info({ node: node.name }, 'the node answers again')
  }

  failed(node: NodeConnection, failure: NodeFailure): void {
    const state = this.#stateOf(node)
    if (state.healthy) this.#log?.warn({ node: node.name, reason: failure.message }, 'the node fails')
    state.healthy = false
    this.#sort()
    if (state.timer !== undefined || this.#closed) return
    state.timer = setTimeout(() => void this.#retry(node, state), state.retryMs).unref()
    state.retryMs = Math.min(state.retryMs * 2, LAST_RETRY_MS)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#states.values()) clearTimeout(timer)
    await Promise.all([...this.#states.keys()].map((node) => node.close()))
  }

  async #retry(node: NodeConnection, state: State): Promise<void> {
    state.timer = undefined
    await this.#verify(node)
  }

  async #verifyAll(): Promise<void> {
    // In order: the chain is that of the first node that answers, not of the fastest.
    for (const node of this.#states.keys()) await this.#verify(node)
  }

  async #verify(node: NodeConnection): Promise<void> {
    try {
      const chainId = String(await node.call('eth_chainId', [], this.#timeoutMs))
      this.#chainId ??= chainId
      if (chainId === this.#chainId) return this.succeeded(node)
      this.#stateOf(node).wrongChain = true
      this.#sort()
      this.#log?.error({ node: node.name, chainId, expected: this.#chainId }, 'the node is of another chain: not used')
    } catch (error) {
      this.failed(
        node,
        error instanceof NodeFailure ? error : new NodeFailure(String(error), 'unanswered', { cause: error }),
      )
    }
  }

  #sort(): void {
    const usable = [...this.#states].filter(([, { wrongChain }]) => !wrongChain)
    this.#order = usable.sort(([, a], [, b]) => Number(b.healthy) - Number(a.healthy)).map(([node]) => node)
  }

  #stateOf(node: NodeConnection): State {
    const state = this.#states.get(node)
    if (state === undefined) throw new TypeError('not one of these nodes')
    return state
  }
}
