import type { Answer } from './answer.ts'
import type { Endpoint, SendOptions } from './endpoint.ts'
import { isServed } from './expect-rpc.ts'
import { isLimitError } from './rate-limit.ts'

/** POST {base_url}/api/eth-rpc of the target. */
export interface RpcTarget extends Endpoint {
  /** The documented envelope with an integer id of its own; `params` default to the empty array. */
  call(method: string, params?: readonly unknown[], options?: SendOptions): Promise<Answer>
}

export function createRpcTarget(endpoint: Endpoint, nextId: () => number): RpcTarget {
  const send = (method: string, params: readonly unknown[], options: SendOptions): Promise<Answer> =>
    endpoint.send({ id: nextId(), jsonrpc: '2.0', method, params }, options)

  /**
   * "Limit exceeded" (-32005) is said of requests, which are waited for, and of what a filter selects, which no wait
   * makes less. Where another request is served in between, the filter is meant.
   */
  async function getLogs(params: readonly unknown[], options: SendOptions): Promise<Answer> {
    const method = 'eth_getLogs'
    const now = { ...options, takeRateLimit: true }
    const first = await send(method, params, now)
    const isLimit = (answer: Answer): boolean => isLimitError(answer.json) || [429, 503].includes(answer.status ?? 0)
    if (!isLimit(first)) return first
    if (isLimitError(first.json) && isServed(await send('eth_chainId', [], now))) {
      const again = await send(method, params, now)
      if (isLimitError(again.json) || !isLimit(again)) return again
    }
    return send(method, params, options)
  }

  return {
    ...endpoint,
    call: (method, params = [], options = {}) =>
      method === 'eth_getLogs' && !options.takeRateLimit ? getLogs(params, options) : send(method, params, options),
  }
}
