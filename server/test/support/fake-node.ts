import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RpcRequest {
  readonly id: number
  readonly method: string
  readonly params: unknown[]
}

/** What a node does that no real one does on demand: it fails, hangs, refuses and counts. */
export interface FakeNode {
  readonly url: string
  /** Bodies received, parsed. */
  readonly received: (RpcRequest | RpcRequest[])[]
  /** Calls received, batches taken apart. */
  calls(method?: string): RpcRequest[]
  /** Answers, or not, in place of the handlers; undefined goes back to normal. */
  onRequest: ((response: ServerResponse, body: RpcRequest | RpcRequest[]) => void) | undefined
  close(): Promise<void>
}

export type Handlers = Record<string, (params: never[]) => unknown>

/** Answers calls by these handlers; an error that one throws is answered, with its `code` and `data`. */
export async function startFakeNode(handlers: Handlers, port = 0): Promise<FakeNode> {
  const answer = async ({ id, method, params }: RpcRequest) => {
    try {
      return { jsonrpc: '2.0', id, result: (await handlers[method]?.(params as never[])) ?? null }
    } catch (thrown) {
      const { code, message, data } = thrown as { code?: number; message: string; data?: unknown }
      return { jsonrpc: '2.0', id, error: { code: code ?? -32000, message, data } }
    }
  }
  const received: FakeNode['received'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[]
      received.push(body)
      if (node.onRequest) node.onRequest(response, body)
      else void respond(response, body)
    })
  })
  const respond = async (response: ServerResponse, body: RpcRequest | RpcRequest[]) => {
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
  }
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  const node: FakeNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    calls: (method) => received.flat().filter((call) => method === undefined || call.method === method),
    onRequest: undefined,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return node
}
