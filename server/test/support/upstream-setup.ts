import { ServiceError } from '../../core/errors.ts'
import { createUpstream } from '../../services/chain/create-upstream.ts'
import type { Upstream } from '../../services/chain/upstream.ts'
import { startFakeNode, type FakeNode } from './fake-node.ts'

/** Both ways to a node, and its URL by each. */
export const urlBy = {
  HTTP: ({ url }: FakeNode) => url,
  WebSocket: ({ webSocketUrl }: FakeNode) => webSocketUrl,
} as const
export type Way = keyof typeof urlBy

/** Fake nodes and what is connected to them, for the tests of a file. */
export function upstreamSetup() {
  const open: { close(): Promise<void> }[] = []
  return {
    /** One that knows a few methods: `echo`, `fail`, and `never`, which it does not answer. */
    node: async (chainId = '0x1', port = 0): Promise<FakeNode> => {
      const started = await startFakeNode(
        {
          eth_chainId: () => chainId,
          eth_getLogs: () => [],
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
    connect: (way: Way, ...nodes: FakeNode[]): Upstream => {
      const upstream = createUpstream({ rpcUrls: nodes.map(urlBy[way]), requestTimeoutMs: 200 })
      open.push(upstream)
      return upstream
    },
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
