import { NodeFailure } from '../node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../upstream.ts'
import { LOST_FACTOR, type HedgeBudget } from './hedge.ts'
import type { Latencies } from './latencies.ts'
import type { Node } from './node.ts'

export interface SendTogether {
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
    let timer = setTimeout(() => setImmediate(() => isSlow(node, begunMs, again)), slowAfterMs)
    const again = () => {
      timer = setTimeout(() => setImmediate(() => isSlow(node, begunMs)), LOST_FACTOR * slowAfterMs)
    }
    const outcomes = node.callTogether(calls, timeoutMs, traceparent)
    for (const [index, asking] of outcomes.entries()) {
      waiting[index]?.add(node)
      void asking.then((outcome) => hear(index, node, outcome, begunMs))
    }
    void Promise.all(outcomes).then(() => clearTimeout(timer))
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
