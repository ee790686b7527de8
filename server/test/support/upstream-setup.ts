import { ServiceError } from '../../core/errors.ts'
import { createUpstream } from '../../services/node/create-upstream.ts'
import type { Upstream } from '../../services/node/upstream.ts'
import { startFakeNode, type FakeNode } from './fake-node.ts'

/** Both ways to a node, and its URL by each. */
export const urlBy = {
  HTTP: ({ url }: FakeNode) => url,
  WebSocket: ({ webSocketUrl }: FakeNode) => webSocketUrl,
} as const
export type Way = keyof typeof urlBy

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
