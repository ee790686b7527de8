import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What lies between the server and a real node, and can be broken. */
export interface NodeProxy {
  readonly url: string
  /** Calls by method, batches taken apart. */
  readonly calls: Map<string, number>
  /** Headers `traceparent` of the requests. */
  readonly traceparents: string[]
  /** How long every answer is held back. */
  delayMs: number
  /** Breaks every connection, whether the node has got the request or not, and takes no new ones. */
  goDown(): void
  comeBack(): void
  close(): Promise<void>
}

interface Call {
  readonly method: string
}

export async function startNodeProxy(target: string): Promise<NodeProxy> {
  let isDown = false
  const server = createServer((request, response) => {
    void (async () => {
      const { traceparent } = request.headers
      if (typeof traceparent === 'string') proxy.traceparents.push(traceparent)
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      for (const { method } of [JSON.parse(body) as Call | Call[]].flat()) {
        proxy.calls.set(method, (proxy.calls.get(method) ?? 0) + 1)
      }
      const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const text = await answer.text()
      if (proxy.delayMs > 0) await sleep(proxy.delayMs)
      response.setHeader('content-type', 'application/json').end(text)
    })().catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    if (isDown) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const proxy: NodeProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: new Map(),
    traceparents: [],
    delayMs: 0,
    goDown: () => {
      isDown = true
      server.closeAllConnections()
    },
    comeBack: () => {
      isDown = false
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
