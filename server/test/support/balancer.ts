import { once } from 'node:events'
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What stands in front of several servers, as load balancers do: follows `/readyz`, and keeps connections. */
export interface Balancer {
  readonly url: string
  /** From now on the server is asked whether it is ready; requests go to those that say so, in turn. */
  add(server: string): void
  remove(server: string): void
  isReady(server: string): boolean
  /** Requests whose connection to a server broke: each was answered by 502, since it may have been served. */
  readonly broken: string[]
  close(): Promise<void>
}

const CHECK_MS = 50

export async function startBalancer(): Promise<Balancer> {
  const servers = new Set<string>()
  const ready = new Set<string>()
  const broken: string[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  let turn = 0

  async function check(server: string): Promise<void> {
    const isReady = await fetch(`${server}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      async (response) => {
        await response.text()
        return response.ok
      },
      () => false,
    )
    if (isReady && servers.has(server)) ready.add(server)
    else ready.delete(server)
  }
  let isClosed = false
  /** One look after the other: an earlier one must not be believed after a later one. */
  async function follow(server: string): Promise<void> {
    while (!isClosed && servers.has(server)) {
      await check(server)
      await sleep(CHECK_MS)
    }
    ready.delete(server)
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const able = [...ready]
    const server = able[turn++ % able.length]
    if (server === undefined) return void response.writeHead(503).end('{"code":"NO_SERVER"}')
    const { method, headers } = request
    const forwarded = send(`${server}${request.url}`, { method, headers, agent }, (answer) => {
      // The server's connection ends with the balancer, not with the client.
      const kept = Object.entries(answer.headers).filter(([name]) => name !== 'connection')
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept))
      answer.pipe(response)
    })
    forwarded.on('error', (error) => {
      broken.push(`${request.url} to ${server}: ${error.message}`)
      if (!response.headersSent) response.writeHead(502)
      response.end('{"code":"BROKEN"}')
    })
    request.pipe(forwarded)
  }

  const front = createServer(forward).listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    add: (server) => {
      servers.add(server)
      void follow(server)
    },
    remove: (server) => void servers.delete(server),
    isReady: (server) => ready.has(server),
    broken,
    close: async () => {
      isClosed = true
      front.close()
      front.closeAllConnections()
      agent.destroy()
      await once(front, 'close')
    },
  }
}
