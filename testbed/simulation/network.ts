import { NodeFailure, type NodeConnection } from '../../server/services/node/node-connection.ts'
import { UpstreamRpcError, type UpstreamCall } from '../../server/services/node/upstream.ts'
import type { SimulatedNode } from './node.ts'
import type { Random } from './random.ts'
import type { Process, WorldTime } from './world-time.ts'

/** What the network does to one call, and what the node answers. */
export type Trouble =
  /** The answer comes late, perhaps after those of later calls. */
  | 'slow'
  /** The call gets lost on its way to the node. */
  | 'unheard'
  /** The node executes the call, and the answer gets lost. */
  | 'unanswered'
  /** The connection breaks after the node has executed the call. */
  | 'broken'
  /** The node gets the call twice. */
  | 'doubled'
  /** The node accepts a transaction, and answers that it refuses it. */
  | 'denies'
  /** The node drops a transaction, and answers that it accepts it. */
  | 'pretends'

/** The state of the line to a node. The weather changes it. */
export interface Line {
  /** Milliseconds that one way takes. */
  readonly fastMs: number
  readonly slowMs: number
  /** The probability that a call meets each trouble. */
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
  /** Called for each transaction that reaches a node, whatever the node does with it. */
  readonly onSent: (raw: string, answer: string) => void
}

/** A connection of one server to one node. */
export function connectTo(options: NetworkOptions): NodeConnection {
  const { time, random, process, node } = options

  /** @param heardMs the earliest time at which the node gets the call */
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

/** Executes a call at the node, even if its sender is gone by then. @returns a function that returns the answer or throws it */
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

/** Gives the node the same call again. Nobody receives the second answer. */
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
