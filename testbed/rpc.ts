import { Pool } from 'undici'

/** A JSON-RPC endpoint over connections that are kept alive. */
export interface RpcClient {
  /** @throws Error with the service's code and message */
  call<Result>(method: string, ...params: unknown[]): Promise<Result>
  post(body: string | Buffer): Promise<{ status: number; text: string }>
  close(): Promise<void>
}

export function createRpcClient(url: string, connections: number): RpcClient {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const headers = { 'content-type': 'application/json' }
  const post: RpcClient['post'] = async (body) => {
    const { statusCode, body: answer } = await pool.request({ method: 'POST', path: pathname, headers, body })
    return { status: statusCode, text: await answer.text() }
  }
  return {
    post,
    call: async <Result>(method: string, ...params: unknown[]) => {
      const { text } = await post(rpcBody(method, params))
      const { result, error } = JSON.parse(text) as { result: Result; error?: { code: number; message: string } }
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
    close: () => pool.close(),
  }
}

export const rpcBody = (method: string, params: readonly unknown[], id = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
