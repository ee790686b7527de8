import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { ServiceError } from '../../core/errors.ts'
import { createUpstream } from '../../services/node/create-upstream.ts'
import type { Upstream } from '../../services/node/upstream.ts'

export interface RpcRequest {
  readonly id: number
  readonly method: string
  readonly params: unknown[]
}

/** What a node does that no real one does on demand: it fails, hangs, refuses and counts. */
export interface FakeNode {
  readonly url: string
  /** The same node by WebSocket. */
  readonly webSocketUrl: string
  /** Bodies and messages received, parsed. */
  readonly received: (RpcRequest | RpcRequest[])[]
  /** Calls received, batches taken apart. */
  calls(method?: string): RpcRequest[]
  /** Answers, or not, in place of the handlers; undefined goes back to normal. */
  onRequest: ((response: ServerResponse, body: RpcRequest | RpcRequest[]) => void) | undefined
  /** The same for messages. */
  onMessage: ((socket: WebSocket, call: RpcRequest) => void) | undefined
  /** Header `Authorization` of each WebSocket that was opened. */
  readonly webSockets: (string | undefined)[]
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
  const webSockets: FakeNode['webSockets'] = []
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, { headers }) => {
    webSockets.push(headers.authorization)
    socket.on('message', (data: Buffer) => {
      const call = JSON.parse(data.toString()) as RpcRequest
      received.push(call)
      if (node.onMessage) node.onMessage(socket, call)
      else void answer(call).then((text) => socket.send(JSON.stringify(text)))
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: boundPort } = server.address() as AddressInfo

  const node: FakeNode = {
    url: `http://127.0.0.1:${boundPort}`,
    webSocketUrl: `ws://127.0.0.1:${boundPort}`,
    webSockets,
    received,
    calls: (method) => received.flat().filter((call) => method === undefined || call.method === method),
    onRequest: undefined,
    onMessage: undefined,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return node
}

/** Both ways to a node, and its URL by each. */
const urlBy = {
  HTTP: ({ url }: FakeNode) => url,
  WebSocket: ({ webSocketUrl }: FakeNode) => webSocketUrl,
} as const
type Way = keyof typeof urlBy

/** What they answer to a transaction. */
export const SENT = `0x${'5e'.repeat(32)}`

/** What a server asks to see of which chain the node is. */
const IDENTITY = ['eth_chainId', 'eth_getBlockByNumber']

/** Requests and messages that a node has received, without those for its identity. */
export const receivedBy = ({ received }: FakeNode) =>
  received.filter((body) => ![body].flat().every(({ method }) => IDENTITY.includes(method)))

/** Fake nodes and what is connected to them, for the tests of a file. */
export function upstreamSetup() {
  const open: { close(): Promise<void> }[] = []
  const connectIn = (way: Way, requestTimeoutMs: number, nodes: readonly FakeNode[]): Upstream => {
    const upstream = createUpstream({ rpcUrls: nodes.map(urlBy[way]), requestTimeoutMs })
    open.push(upstream)
    return upstream
  }
  return {
    /** One that knows a few methods: `echo`, `fail`, and `never`, which it does not answer. */
    node: async (chainId = '0x1', port = 0): Promise<FakeNode> => {
      const started = await startFakeNode(
        {
          eth_chainId: () => chainId,
          eth_getLogs: () => [],
          eth_sendRawTransaction: () => SENT,
          echo: ([value]) => value,
          never: () => new Promise(() => {}),
          fail: () => {
            throw Object.assign(new Error('execution reverted'), { code: 3, data: '0x1234' })
          },
        },
        port,
      )
      open.push(started)
      return started
    },
    connect: (way: Way, ...nodes: FakeNode[]): Upstream => connectIn(way, 5_000, nodes),
    /** With little patience: a node is silent after 200 ms. */
    connectBriefly: (way: Way, ...nodes: FakeNode[]): Upstream => connectIn(way, 200, nodes),
    /** A node goes away. */
    leave: async (gone: FakeNode) => {
      await gone.close()
      open.splice(open.indexOf(gone), 1)
    },
    closeAll: () => Promise.all(open.splice(0).map((one) => one.close())),
  }
}

/** What a call comes to: its result, the code of the server's own error, or another error. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    return error instanceof ServiceError ? error.code : error
  }
}
