import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { request as send } from 'undici'
import type { Fixture } from '../lib/fixture.ts'
import { parseLossless } from '../lib/lossless-json.ts'
import {
  type Alteration,
  type AlteredRequest,
  type AlteredResponse,
  type AlteredTools,
  type Forward,
  type ListenEnvironment,
  respond,
} from './define.ts'
import { limitConnections } from './limit-connections.ts'

/** Headers of a connection, which are not forwarded. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect'])

export interface ServeOptions {
  /** The reference server. */
  readonly serverUrl: string
  readonly fixture: Fixture
  readonly listen?: ListenEnvironment
  /** Key and certificate in PEM; absent: the server listens by HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface ServedAlteration {
  /** The base URL that the suite is given. */
  readonly url: string
  close(): Promise<void>
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !hopByHop.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

function parse(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}

async function read(incoming: IncomingMessage, prefix: string): Promise<AlteredRequest | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { method = 'GET', url: path = '/' } = incoming
  if (!path.startsWith(`${prefix}/`)) return undefined
  return { method, path: path.slice(prefix.length), headers: flat(incoming.headers), text, json: parse(text) }
}

function forwardTo(serverUrl: string): Forward {
  return async ({ method, path, headers, text }) => {
    const body = method === 'GET' || method === 'HEAD' ? null : text
    const answer = await send(`${serverUrl}${path}`, { method: method as 'POST', headers, body })
    const received = await answer.body.text()
    return { status: answer.statusCode, headers: flat(answer.headers), text: received, json: parse(received) }
  }
}

function chainAt(rpcUrl: string): AlteredTools['chain'] {
  return async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await send(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await answer.body.json()) as { result?: unknown; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

/** The alteration as one function: `every` first, then the handler of the path, then the reference server. */
function answerBy(alteration: Alteration, toServer: Forward, tools: AlteredTools): Forward {
  const byPath: Forward = async (request) => {
    const path = request.path.split('?')[0]
    const handlers = { '/execute': alteration.execute, '/quota': alteration.quota, '/api/eth-rpc': alteration.rpc }
    const handler = request.method === 'POST' ? handlers[path as keyof typeof handlers] : undefined
    return handler ? handler(request, toServer, tools) : toServer(request)
  }
  const { every } = alteration
  return every ? (request) => every(request, byPath, tools) : byPath
}

function write(outgoing: ServerResponse, { status, headers, text, bytes, hangsUp }: AlteredResponse): void {
  if (hangsUp) return void outgoing.destroy()
  // Node would otherwise add a Date header that the alteration took out.
  outgoing.sendDate = false
  outgoing.writeHead(status, headers).end(bytes ?? text)
}

function listener(answer: Forward, prefix: string, onBroken: (error: unknown) => void): RequestListener {
  return (incoming, outgoing) => {
    read(incoming, prefix)
      .then((request) => (request ? answer(request) : respond(404, { message: 'not below the prefix' })))
      .catch((error: unknown) => {
        // The client has gone. The alteration is not to blame.
        if (incoming.destroyed && !incoming.complete) return respond(400, {})
        onBroken(error)
        return respond(500, { message: 'the alteration itself failed' })
      })
      .then((response) => write(outgoing, response), onBroken)
  }
}

/**
 * Puts an alteration in front of the reference server, at a free port of this machine.
 *
 * @param onBroken called when the alteration itself fails, and so proves nothing
 */
export async function serveAlteration(
  alteration: Alteration,
  { serverUrl, fixture, listen = {}, tls }: ServeOptions,
  onBroken: (error: unknown) => void,
): Promise<ServedAlteration> {
  const { host = '127.0.0.1', https, prefix = '', urlSuffix = '' } = listen
  const tools: AlteredTools = { fixture, chain: chainAt(fixture.chain.rpcUrl), memory: new Map() }
  const onRequest = listener(answerBy(alteration, forwardTo(serverUrl), tools), prefix, onBroken)
  if (https && !tls) throw new Error('HTTPS needs a key and a certificate')
  const server = https ? createSecureServer(tls ?? {}, onRequest) : createServer(onRequest)
  limitConnections(server, listen)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http${https ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}${prefix}${urlSuffix}`,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
