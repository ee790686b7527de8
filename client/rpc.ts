import { objectOf } from './answer.ts'
import { post, type Patience, type Fetch } from './post.ts'
import { RelayError } from './relay-error.ts'

/** What wallets and nodes offer to pages (EIP-1193). */
export interface Eip1193Provider {
  request(call: { method: string; params?: unknown }): Promise<unknown>
}

/** Calls a method of the node. @throws RelayError NODE_FAILED */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>

/** @param node an EIP-1193 provider, or the URL of a node */
export function createRpc(node: string | Eip1193Provider, options: Patience & { readonly fetch: Fetch }): Rpc {
  if (typeof node !== 'string') {
    return async (method, params) => {
      try {
        return await node.request({ method, params })
      } catch (cause) {
        throw nodeFailed(method, cause instanceof Error ? cause.message : String(cause), { cause })
      }
    }
  }
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const { answer, error: cause } = await post(node, { ...options, body })
    // Some nodes put an HTTP status beside their errors.
    const said = answer && objectOf(answer.text)
    if (said && 'result' in said) return said['result']
    const rpcError = said?.['error']
    if (rpcError !== undefined) throw nodeFailed(method, JSON.stringify(rpcError), { rpcError })
    throw nodeFailed(method, cause?.message ?? 'no JSON-RPC answer', { cause })
  }
}

function nodeFailed(method: string, reason: string, { cause, rpcError }: { cause?: unknown; rpcError?: unknown }) {
  return new RelayError('NODE_FAILED', `the node fails at ${method}: ${reason}`, {
    details: { method, rpcError },
    cause,
  })
}
