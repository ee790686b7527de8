import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** The requests that came in, in order. */
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: string }[]
}

/** Starts a server at a free port, or at the given one. It calls `answer` when it has read a request. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  port = 0,
): Promise<TestServer> {
  const requests: { method: string; path: string; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push({ method: request.method ?? '', path: request.url ?? '', body })
      answer(request, response, body)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
