import { request } from 'undici'
import { withDeadline } from './deadline.ts'
import { authorizationOf } from './http.ts'
import { isLimitError } from './limits.ts'
import { Untestable } from './outcome.ts'
import { createQueue } from './queue.ts'
import { type Attempt, steadyNode } from './steady-node.ts'
import { delay, outside } from './world.ts'

const requestTimeoutMs = 30_000
/** The pause before a question is asked again. Each further pause is twice as long. */
const firstPauseMs = 200
/** A question is asked again so many times when the node limits the run or is away: within some 12 seconds. */
const mostRepeats = 6
/** All pauses of a run together. */
const patienceMs = 300_000
/** The chains of development nodes (Hardhat, anvil, Ganache). Behind such a URL stands one node, which may go back. */
const developmentChainIds: readonly bigint[] = [1337n, 31337n]
/** Statuses by which a gateway says that the node is busy or away, whatever the body says. */
const busyStatuses: readonly number[] = [429, 502, 503, 504]

/**
 * A node of the user's choice, whose JSON-RPC answers count as the truth. One that limits the run, or that is away for some
 * seconds, is asked again. A failure of this node makes a check untestable and never accuses the target.
 */
export interface ChainTruth {
  /** @throws Untestable when the node does not answer, or answers with an error */
  send(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Like `send`, but returns the node's error object instead of throwing: for calls that may revert. */
  readonly attempt: Attempt
  /** The id of the chain. */
  readonly chainId: bigint
}

interface RpcResponse {
  readonly result?: unknown
  readonly error?: { readonly message: string; readonly data?: unknown }
}

/** The response of the node, or why there is none. */
type Asked =
  | { readonly response: RpcResponse }
  | {
      readonly failure: string
      /** Whether the node may answer within seconds. */
      readonly mayPass?: boolean
      /** The seconds of `Retry-After`. */
      readonly retryAfterSeconds?: number
    }

async function post(rpcUrl: string, method: string, params: readonly unknown[]): Promise<Asked> {
  const { statusCode, retryAfter, text } = await withDeadline(requestTimeoutMs, async (signal) => {
    const { statusCode, headers, body } = await request(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorizationOf(rpcUrl) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    })
    return { statusCode, retryAfter: Number(headers['retry-after']), text: await body.text() }
  })
  if (busyStatuses.includes(statusCode)) {
    const retryAfterSeconds = Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}
    return { failure: `HTTP ${statusCode}`, mayPass: true, ...retryAfterSeconds }
  }
  try {
    const response = JSON.parse(text) as RpcResponse
    return isLimit(method, response) ? { failure: response.error?.message ?? 'a limit', mayPass: true } : { response }
  } catch {
    return { failure: `HTTP ${statusCode}, not JSON` }
  }
}

/** Whether the node limits the run. Nodes use the code of a limit for a filter that selects too much as well. */
function isLimit(method: string, response: RpcResponse): boolean {
  return isLimitError(method === 'eth_getLogs' ? { error: response.error?.message } : response)
}

function ask(rpcUrl: string, method: string, params: readonly unknown[]): Promise<Asked> {
  return outside(chainQuestion(method, params), () =>
    post(rpcUrl, method, params).catch((error: unknown): Asked => {
      const { code, name, message } = error as { code?: string; name?: string; message?: string }
      // A node that hangs has been waited for already.
      return { failure: code ?? message ?? String(error), mayPass: name !== 'TimeoutError' }
    }),
  )
}

/** A question to the chain's node as the record of a run names it. */
function chainQuestion(method: string, params: readonly unknown[]): string {
  return `chain ${method} ${JSON.stringify(params)}`
}

/** The method and parameters of what `chainQuestion` wrote; undefined for a question to somebody else. */
export function chainQuestionIn(asked: string): { method: string; params: readonly unknown[] } | undefined {
  const [, method, params] = /^chain (\w+) (\[.*\])$/s.exec(asked) ?? []
  if (method === undefined || params === undefined) return undefined
  try {
    return { method, params: JSON.parse(params) as unknown[] }
  } catch {
    return undefined
  }
}

/** The node behind the URL, which is asked again while it limits the run, or is away. */
function patientNode(rpcUrl: string): Attempt {
  /** Questions that wait for the node. Others stand behind them, since they would use up what a limit gives. */
  const queue = createQueue()
  let patienceLeftMs = patienceMs
  /** Whether the node has answered, and not been waited for in vain since then. */
  let isServing = false

  return async (method, params = []) => {
    let leave = queue.isTaken ? await queue.enter() : undefined
    try {
      for (let repeats = 0; ;) {
        const asked = await ask(rpcUrl, method, params)
        if ('response' in asked) {
          isServing = true
          const { result, error } = asked.response
          return error ? { error } : { result }
        }
        const askedMs = Math.max(firstPauseMs * 2 ** repeats, (asked.retryAfterSeconds ?? 0) * 1000)
        const isPatient = isServing && asked.mayPass === true && askedMs <= patienceLeftMs
        if (repeats >= (isPatient ? mostRepeats : 1)) {
          isServing = false
          throw new Untestable(`the chain's node does not answer ${method} (${asked.failure})`)
        }
        if (isPatient && leave === undefined) {
          const { isTaken } = queue
          leave = await queue.enter()
          // The limit may have ended while others waited for it.
          if (isTaken) continue
        }
        const pauseMs = isPatient ? askedMs : firstPauseMs
        patienceLeftMs -= pauseMs
        await delay(pauseMs)
        repeats++
      }
    } finally {
      leave?.()
    }
  }
}

/**
 * Connects to the node and reads the id of the chain.
 * @throws Untestable when the node cannot be reached
 */
export async function connectChain(rpcUrl: string): Promise<ChainTruth> {
  const attempt = patientNode(rpcUrl)
  const chainId = BigInt(String(await resultOf(attempt, 'eth_chainId')))
  const asked = developmentChainIds.includes(chainId) ? attempt : steadyNode(attempt)
  return { send: (method, params) => resultOf(asked, method, params), attempt: asked, chainId }
}

/** @throws Untestable when the node answers with an error */
async function resultOf(attempt: Attempt, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const outcome = await attempt(method, params)
  if ('error' in outcome)
    throw new Untestable(`the chain's node answers ${method} with an error: ${outcome.error.message}`)
  return outcome.result
}

/** Takes the place of the node when there is none: every use throws Untestable. */
export function noChain(reason: string): ChainTruth {
  const refuse = (): never => {
    throw new Untestable(reason)
  }
  return {
    send: async () => refuse(),
    attempt: async () => refuse(),
    get chainId() {
      return refuse()
    },
  }
}
