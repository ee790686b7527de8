import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** What lies between the server and a real node, and can be broken. */
export interface NodeProxy {
  readonly url: string
  /** Calls by method, batches taken apart; those by WebSocket are not looked at. */
  readonly calls: Map<string, number>
  /** Headers `traceparent` of the requests. */
  readonly traceparents: string[]
  /** How long every answer to a request is held back. */
  delayMs: number
  /** A method whose calls alone are held back; absent: all. */
  delayedMethod?: string
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
      const methods = [JSON.parse(body) as Call | Call[]].flat().map(({ method }) => method)
      for (const method of methods) {
        proxy.calls.set(method, (proxy.calls.get(method) ?? 0) + 1)
      }
      const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const text = await answer.text()
      const isDelayed = proxy.delayedMethod === undefined || methods.includes(proxy.delayedMethod)
      if (proxy.delayMs > 0 && isDelayed) await sleep(proxy.delayMs, undefined, { ref: false })
      response.setHeader('content-type', 'application/json').end(text)
    })().catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    if (isDown) socket.destroy()
  })
  const tunnels = new Set<Duplex>()
  server.on('upgrade', ({ url, rawHeaders }, caller, head) => {
    const { hostname, port } = new URL(target)
    const node = connect(Number(port), hostname)
    node.write(`GET ${url} HTTP/1.1\r\n`)
    for (let at = 0; at < rawHeaders.length; at += 2) node.write(`${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`)
    node.write('\r\n')
    node.write(head)
    caller.pipe(node).pipe(caller)
    tunnels.add(caller)
    for (const [one, other] of [
      [caller, node],
      [node, caller],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
    caller.on('close', () => tunnels.delete(caller))
  })
  const breakAll = () => {
    server.closeAllConnections()
    for (const tunnel of tunnels) tunnel.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const proxy: NodeProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: new Map(),
    traceparents: [],
    delayMs: 0,
    goDown: () => {
      isDown = true
      breakAll()
    },
    comeBack: () => {
      isDown = false
    },
    close: async () => {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
