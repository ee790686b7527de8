import { request } from 'undici'
import { withDeadline } from './deadline.ts'
import { authorizationOf } from './http.ts'
import { Untestable } from './outcome.ts'
import { delay, outside } from './world.ts'

const requestTimeoutMs = 30_000

/**
 * A node of the user's choice, whose JSON-RPC answers count as the truth. A failure of this node makes a check
 * untestable and never accuses the target.
 */
export interface ChainTruth {
  /** @throws Untestable when the node does not answer, or answers with an error */
  send(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Like `send`, but returns the node's error object instead of throwing: for calls that may revert. */
  attempt(
    method: string,
    params?: readonly unknown[],
  ): Promise<{ readonly result: unknown } | { readonly error: { readonly message: string; readonly data?: unknown } }>
  /** The id of the chain. */
  readonly chainId: bigint
}

interface RpcResponse {
  readonly result?: unknown
  readonly error?: { readonly message: string; readonly data?: unknown }
}

/** Sends a JSON-RPC request to the node. @throws Error when the answer is none */
async function post(rpcUrl: string, method: string, params: readonly unknown[]): Promise<RpcResponse> {
  const { statusCode, text } = await withDeadline(requestTimeoutMs, async (signal) => {
    const { statusCode, body } = await request(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorizationOf(rpcUrl) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    })
    return { statusCode, text: await body.text() }
  })
  try {
    return JSON.parse(text) as RpcResponse
  } catch {
    throw new Error(`HTTP ${statusCode}, not JSON`)
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}

/** The response of the node, or why there is none. */
type Asked = { readonly response: RpcResponse } | { readonly failure: string }

function ask(rpcUrl: string, method: string, params: readonly unknown[]): Promise<Asked> {
  return outside(chainQuestion(method, params), () =>
    post(rpcUrl, method, params).then(
      (response) => ({ response }),
      (error: unknown) => ({ failure: reasonOf(error) }),
    ),
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

/**
 * Connects to the node and reads the id of the chain.
 * @throws Untestable when the node cannot be reached
 */
export async function connectChain(rpcUrl: string): Promise<ChainTruth> {
  async function attempt(method: string, params: readonly unknown[] = []) {
    let asked = await ask(rpcUrl, method, params)
    if ('failure' in asked) {
      await delay(200)
      asked = await ask(rpcUrl, method, params)
    }
    if ('failure' in asked) throw new Untestable(`the chain's node does not answer ${method} (${asked.failure})`)
    const { result, error } = asked.response
    return error ? { error } : { result }
  }

  async function send(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const outcome = await attempt(method, params)
    if ('error' in outcome)
      throw new Untestable(`the chain's node answers ${method} with an error: ${outcome.error.message}`)
    return outcome.result
  }

  return { send, attempt, chainId: BigInt(String(await send('eth_chainId'))) }
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
