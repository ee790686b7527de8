import type { Answer } from './answer.ts'
import type { Endpoint } from './endpoint.ts'

/** POST {base_url}/api/eth-rpc of the target. */
export interface RpcTarget extends Endpoint {
  /** The documented envelope with an integer id of its own; `params` default to the empty array. */
  call(method: string, params?: readonly unknown[]): Promise<Answer>
}

export function createRpcTarget(endpoint: Endpoint, nextId: () => number): RpcTarget {
  return {
    ...endpoint,
    call: (method, params = []) => endpoint.send({ id: nextId(), jsonrpc: '2.0', method, params }),
  }
}
