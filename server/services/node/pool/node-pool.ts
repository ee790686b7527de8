import type { Logger } from 'pino'
import { NodeFailure } from '../node-connection.ts'
import { isRaw } from '../../../ethereum/quantity.ts'
import { rpcErrorKind, UpstreamRpcError, type Upstream, type UpstreamCall, type UpstreamOptions } from '../upstream.ts'
import { agreed, disagreement, isComparable, unavailable, isSound } from './answers.ts'
import type { ChainIdentity, Node } from './node.ts'
import { Heads, orAfter, toNodeBlock } from './heads.ts'
import { askHedged, HedgeBudget, type Hedged, Latencies, sendTogether } from './hedge.ts'

export interface NodePoolOptions {
  readonly nodes: readonly Node[]
  readonly identity: ChainIdentity
  readonly timeoutMs: number
  readonly log: Logger | undefined
  readonly onReorganised: () => void
}

const HEAD_CALL = ['eth_getBlockByNumber', ['latest', false]] as const
/** When two nodes have to agree, one that has not answered after this time is left out. */
const CONFIRM_MS = 3_000
/** Limit exceeded (EIP-1474), or HTTP's code for it within a JSON-RPC answer. */
const BUSY_CODES = new Set([-32005, 429])
/** How long such a node is left alone, since its answer does not say. */
const REST_MS = 1_000
/** The code of a reverted call, which reverts on every node. */
const REVERTED = 3

/** Whether another node may serve what this one refuses. */
const isPassing = (error: UpstreamRpcError) => error.code !== REVERTED && rpcErrorKind(error) !== undefined

/** At the start, the server waits this long for other nodes after the first has told its chain. */
const OPENING_MS = 1_000

/** A node and its answer. */
interface Told {
  readonly node: Node
  readonly answer: unknown
}

/** Leaves a node alone that refuses further calls. A refused eth_getLogs is about its range, and no reason for that. */
const restIfBusy =
  (method: string) =>
  (error: unknown): never => {
    if (!(error instanceof UpstreamRpcError) || method === 'eth_getLogs' || !BUSY_CODES.has(error.code)) throw error
    throw new NodeFailure(error.message.slice(0, 200), 'unanswered', { retryAfterMs: REST_MS, cause: error })
  }

/** Several nodes as one upstream: see docs/operations.md, "Several nodes". */
export class NodePool implements Upstream {
  readonly #options: NodePoolOptions
  readonly #heads: Heads
  readonly #latencies = new Latencies()
  readonly #budget = new HedgeBudget()
  #opening: Promise<void> | undefined
  #hasAnsweredBehind = false

  constructor(options: NodePoolOptions) {
    this.#options = options
    this.#heads = new Heads(options)
  }

  async request<Result>(method: string, params: readonly unknown[], options: UpstreamOptions = {}): Promise<Result> {
    const { timeoutMs = this.#options.timeoutMs, traceparent } = options
    const deadlineMs = performance.now() + timeoutMs
    await this.#prepare()
    const isConfirmed = options.confirm === true && isComparable(method)
    try {
      return (await (isConfirmed
        ? this.#confirmed(method, params, deadlineMs, traceparent)
        : this.#read(method, params, deadlineMs, options))) as Result
    } catch (error) {
      throw error instanceof NodeFailure ? unavailable(error, this.#options.nodes) : error
    }
  }

  requestTogether(
    calls: readonly UpstreamCall[],
    { traceparent }: Pick<UpstreamOptions, 'traceparent'> = {},
  ): readonly Promise<PromiseSettledResult<unknown>>[] {
    const sent = this.#prepare().then(() =>
      sendTogether({
        calls,
        candidates: () => this.#heads.candidates(),
        latencies: this.#latencies,
        budget: this.#budget,
        timeoutMs: this.#options.timeoutMs,
        traceparent,
      }),
    )
    return calls.map(async (_, index): Promise<PromiseSettledResult<unknown>> => {
      const outcome = await (await sent)[index]
      if (outcome?.status === 'fulfilled') return outcome
      const reason: unknown = outcome?.reason
      if (reason instanceof UpstreamRpcError) return { status: 'rejected', reason }
      return { status: 'rejected', reason: unavailable(reason, this.#options.nodes) }
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#options.nodes.map((node) => node.close()))
  }

  /** Before any question: learns the nodes' chains once, keeps their heads fresh, and lets them settle on the mark. */
  async #prepare(): Promise<void> {
    await (this.#opening ??= this.#open())
    const looking = this.#heads.freshen()
    const slowAfterMs = this.#latencies.slowAfterMs(HEAD_CALL[0])
    if (looking) await orAfter(looking, slowAfterMs)
    await this.#heads.weighed(slowAfterMs)
    if (this.#hasAnsweredBehind && this.#heads.lagOf(this.#heads.candidates()[0]) === 0) {
      // Answers from one block back were given for the head: whoever keeps them must drop them.
      this.#hasAnsweredBehind = false
      this.#options.onReorganised()
    }
  }

  async #open(): Promise<void> {
    const { nodes, identity } = this.#options
    const asked = nodes.map((node) => node.tellIdentity())
    await Promise.any(asked).catch(() => undefined)
    const told = await Promise.all(asked.map((one) => orAfter(one, OPENING_MS).catch(() => undefined)))
    identity.decide(told.filter((one) => one !== undefined))
    await Promise.all(
      nodes.map((node) => {
        const verifying = node.verify().catch((error: unknown) => node.failed(error as Error))
        return orAfter(verifying, OPENING_MS)
      }),
    )
    await this.#heads.look(true)
  }

  #read(
    method: string,
    params: readonly unknown[],
    deadlineMs: number,
    { traceparent, onNode }: { traceparent?: string | undefined; onNode?: UpstreamOptions['onNode'] },
  ): Promise<unknown> {
    if (this.#heads.mark !== undefined) {
      if (method === 'eth_blockNumber') return this.#readHead(deadlineMs, traceparent, ({ raw }) => raw['number'])
      if (method === HEAD_CALL[0] && params[0] === 'latest' && params[1] !== true) {
        return this.#readHead(deadlineMs, traceparent, ({ raw }) => raw)
      }
    }
    const isSending = method === 'eth_sendRawTransaction'
    // A node may lack a block that another node has. When none has it, the answer is null.
    const isExpected = method === HEAD_CALL[0] && Number(params[0]) <= (this.#heads.mark?.number ?? -1)
    let isMissing = false
    const asked = this.#hedged({
      method,
      deadlineMs,
      mayRepeat: !isSending,
      onNode: onNode && ((node) => onNode(this.#nameOf(node))),
      // Another node may have other limits, and the same bytes are the same transaction: it is asked in any case.
      isPassing: (error) => isSending || isPassing(error),
      ask: async (node, timeoutMs) => {
        const answer = await node.call(method, params, timeoutMs, traceparent).catch(restIfBusy(method))
        if (!isSound(method, params, answer)) throw new NodeFailure(`no ${method} has this answer`)
        if (answer === null && isExpected) {
          isMissing = true
          throw new NodeFailure('the node lacks a block', 'behind')
        }
        if ((this.#heads.lagOf(node) ?? 0) > 0) this.#hasAnsweredBehind = true
        await this.#learnFrom(answer)
        return answer
      },
    })
    if (!isExpected) return asked
    return asked.catch((error: unknown) => {
      if (!isMissing || !(error instanceof NodeFailure)) throw error
      return null
    })
  }

  /** Answers with the mark, once a node has confirmed that its own head is the mark or one block before it. */
  #readHead<T>(
    deadlineMs: number,
    traceparent: string | undefined,
    pick: (block: { readonly raw: Readonly<Record<string, unknown>> }) => T,
  ): Promise<unknown> {
    const [method, params] = HEAD_CALL
    return this.#hedged({
      method,
      deadlineMs,
      mayRepeat: true,
      isPassing,
      ask: async (node, timeoutMs) => {
        await this.#heads.observe(node, await node.call(method, params, timeoutMs, traceparent))
        await this.#heads.weighed(this.#latencies.slowAfterMs(method))
        const { mark } = this.#heads
        if (mark === undefined || !this.#heads.isClose(node)) throw new NodeFailure('the node is behind', 'behind')
        return pick(mark)
      },
    })
  }

  #hedged<T>(
    hedged: Pick<Hedged<T>, 'method' | 'deadlineMs' | 'mayRepeat' | 'onNode' | 'isPassing' | 'ask'>,
  ): Promise<T> {
    return askHedged({
      ...hedged,
      nodes: this.#options.nodes,
      candidates: () => this.#heads.candidates(),
      // The answer to a question that is under way already may be as old as what is known.
      look: () => this.#heads.look(true, true),
      latencies: this.#latencies,
      budget: this.#budget,
    })
  }

  readonly #nameOf = (node: Node) => String(this.#options.nodes.indexOf(node))

  /** An answer may name a block above the mark: the heads are looked at before the answer is given. */
  async #learnFrom(answer: unknown): Promise<void> {
    const number = Number((answer as { blockNumber?: unknown } | null)?.blockNumber ?? -1)
    if (number <= (this.#heads.mark?.number ?? Infinity)) return
    await orAfter(this.#heads.look(), this.#latencies.slowAfterMs(HEAD_CALL[0]))
  }

  /** @throws ServiceError UPSTREAM_UNAVAILABLE two nodes contradict each other, and there is no third */
  async #confirmed(
    method: string,
    params: readonly unknown[],
    deadlineMs: number,
    traceparent: string | undefined,
  ): Promise<unknown> {
    const ask = () => this.#agreed(method, params, Math.min(CONFIRM_MS, deadlineMs - performance.now()), traceparent)
    let told = await ask()
    if (told === undefined && this.#heads.candidates().length === 0 && performance.now() < deadlineMs) {
      await this.#heads.look(true, true)
      told = await ask()
    }
    return told ? told.answer : this.#read(method, params, deadlineMs, { traceparent })
  }

  /** @returns undefined when no node has answered. @throws ServiceError as `#confirmed` */
  async #agreed(
    method: string,
    params: readonly unknown[],
    timeoutMs: number,
    traceparent: string | undefined,
  ): Promise<Pick<Told, 'answer'> | undefined> {
    const candidates = this.#heads.candidates()
    const answers: Told[] = []
    for (const some of [candidates.slice(0, 2), candidates.slice(2)]) {
      const asked = await Promise.all(some.map((node) => this.#askOne(node, method, params, timeoutMs, traceparent)))
      for (const told of asked) {
        if (told === undefined) continue
        for (const earlier of answers) {
          const same = agreed(method, params, earlier.answer, told.answer) ?? (await this.#inSameBlock(earlier, told))
          if (same) return same
        }
        answers.push(told)
      }
    }
    if (answers.length < 2) return answers[0]
    this.#options.log?.warn({ method, params }, 'the nodes contradict each other')
    throw disagreement(method)
  }

  /** A node without an index of receipts agrees with one that tells a receipt when it has the receipt's block. */
  async #inSameBlock(one: Told, other: Told): Promise<Pick<Told, 'answer'> | undefined> {
    const [without, receipt] = one.answer === null ? [one, other] : [other, one]
    if (without.answer !== null || !isRaw(receipt.answer) || typeof receipt.answer['blockHash'] !== 'string')
      return undefined
    const { blockNumber, blockHash } = receipt.answer
    const there = await this.#askOne(without.node, HEAD_CALL[0], [blockNumber, false], CONFIRM_MS, undefined)
    return toNodeBlock(there?.answer)?.hash === blockHash.toLowerCase() ? receipt : undefined
  }

  async #askOne(
    node: Node,
    method: string,
    params: readonly unknown[],
    timeoutMs: number,
    traceparent: string | undefined,
  ): Promise<Told | undefined> {
    try {
      const answer = await node.call(method, params, timeoutMs, traceparent)
      if (!isSound(method, params, answer)) throw new NodeFailure(`no ${method} has this answer`)
      return { node, answer }
    } catch (error) {
      if (!(error instanceof UpstreamRpcError)) node.failed(error as Error)
      return undefined
    }
  }
}
