import { NodeFailure, type NodeConnection } from '../../server/services/node/node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../../server/services/node/upstream.ts'
import type { SimulatedNode } from './node.ts'
import type { Random } from './random.ts'
import type { Process, WorldTime } from './world-time.ts'

/** What the network does to one call, and what the node says of it. */
export type Trouble =
  /** Answered late, after other calls perhaps. */
  | 'slow'
  /** The node does not hear it. */
  | 'unheard'
  /** The node does it, and the answer gets lost. */
  | 'unanswered'
  /** The connection breaks when the node has done it. */
  | 'broken'
  /** The node gets it twice. */
  | 'doubled'
  /** The node takes a transaction, and answers that it does not. */
  | 'denies'
  /** The node drops a transaction, and answers that it has it. */
  | 'pretends'

/** How a node is to be reached now; changed by the weather. */
export interface Line {
  /** Milliseconds of one way. */
  readonly fastMs: number
  readonly slowMs: number
  /** The probability of each trouble, of one call. */
  readonly troubles: ReadonlyMap<Trouble, number>
}

export const CLEAR_LINE: Line = { fastMs: 1, slowMs: 15, troubles: new Map() }

const SEND = 'eth_sendRawTransaction'

export interface NetworkOptions {
  readonly time: WorldTime
  readonly random: Random
  readonly process: Process
  readonly node: SimulatedNode
  readonly line: () => Line
  readonly read: (raw: string) => { readonly hash: string }
  /** Told of each transaction that a node is given, whatever becomes of it. */
  readonly onSent: (raw: string, answer: string) => void
}

/** A connection of one server to one node. */
export function connectTo(options: NetworkOptions): NodeConnection {
  const { time, random, process, node } = options

  /** @param heardMs when the node hears it at the earliest */
  function ask(method: string, params: readonly unknown[], timeoutMs: number, heardMs: number) {
    const line = options.line()
    const trouble = pickTrouble(line, random, method)
    const wayMs = () => random.between(line.fastMs, line.slowMs) * (trouble === 'slow' ? random.between(10, 400) : 1)
    const arrivesMs = Math.max(time.nowMs + wayMs(), heardMs)
    const answer = new Promise<unknown>((resolve, reject) => {
      let isOver = false
      const end = (work: () => void) => () => {
        if (isOver) return
        isOver = true
        time.cancel(deadline)
        work()
      }
      const deadline = time.after(
        timeoutMs,
        process,
        end(() => reject(new NodeFailure('no answer in time'))),
      )
      if (trouble === 'unheard') return
      time.at(arrivesMs, undefined, () => {
        const told = atNode(options, method, params, trouble)
        if (trouble === 'unanswered') return
        const answered = end(() => {
          if (trouble === 'broken') return reject(new NodeFailure('the connection broke', 'lost'))
          resolve(new Promise((tell) => tell(told())))
        })
        time.after(wayMs(), process, answered)
      })
    })
    return { answer, arrivesMs }
  }

  return {
    name: node.name,
    isOpen: true,
    onOpen: () => {},
    call: (method, params, timeoutMs) => ask(method, params, timeoutMs, 0).answer,
    callTogether: (calls: readonly UpstreamCall[], timeoutMs) => {
      let heardMs = 0
      return calls.map(({ method, params }) => {
        const { answer, arrivesMs } = ask(method, params, timeoutMs, heardMs)
        heardMs = arrivesMs
        return answer.then(
          (value): PromiseSettledResult<unknown> => ({ status: 'fulfilled', value }),
          (reason: unknown): PromiseSettledResult<unknown> => ({ status: 'rejected', reason }),
        )
      })
    },
    close: async () => {},
  }
}

/** At the node: it does what it is asked, even when whoever asked is gone. @returns what gives its answer, or throws it */
function atNode(
  { node, read, onSent }: NetworkOptions,
  method: string,
  params: readonly unknown[],
  trouble: Trouble | undefined,
): () => unknown {
  const raw = String(params[0])
  const isSent = method === SEND
  try {
    if (trouble === 'pretends' && isSent) {
      onSent(raw, 'dropped, and says it has it')
      return () => read(raw).hash
    }
    const result = node.answer(method, params)
    if (isSent) onSent(raw, trouble === 'denies' ? 'taken, and says it is not' : 'taken')
    if (trouble === 'doubled') answerAgain(node, method, params)
    if (trouble === 'denies' && isSent) {
      return () => {
        throw new UpstreamRpcError({ code: -32000, message: 'internal error' })
      }
    }
    return () => result
  } catch (error) {
    if (isSent && error instanceof UpstreamRpcError) onSent(raw, error.message)
    return () => {
      throw error
    }
  }
}

/** Nobody hears the second answer. */
function answerAgain(node: SimulatedNode, method: string, params: readonly unknown[]): void {
  try {
    node.answer(method, params)
  } catch (error) {
    if (!(error instanceof UpstreamRpcError)) throw error
  }
}

function pickTrouble({ troubles }: Line, random: Random, method: string): Trouble | undefined {
  if (troubles.size === 0) return undefined
  let at = random.next()
  for (const [trouble, probability] of troubles) {
    at -= probability
    if (at < 0) return trouble === 'pretends' && method !== SEND ? undefined : trouble
  }
  return undefined
}
