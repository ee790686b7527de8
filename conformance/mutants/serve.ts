import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request as send } from 'undici'
import type { Fixture } from '../lib/fixture.ts'
import { parseLossless } from '../lib/lossless-json.ts'
import {
  respond,
  type Forward,
  type Mutant,
  type MutantRequest,
  type MutantResponse,
  type MutantTools,
} from './define.ts'

/** What belongs to one connection and not to the message. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host', 'expect'])

export interface ServedMutant {
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

async function read(incoming: IncomingMessage): Promise<MutantRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  const { method = 'GET', url: path = '/' } = incoming
  return { method, path, headers: flat(incoming.headers), text, json: parse(text) }
}

function forwardTo(serverUrl: string): Forward {
  return async ({ method, path, headers, text }) => {
    const body = method === 'GET' || method === 'HEAD' ? null : text
    const answer = await send(`${serverUrl}${path}`, { method: method as 'POST', headers, body })
    const received = await answer.body.text()
    return { status: answer.statusCode, headers: flat(answer.headers), text: received, json: parse(received) }
  }
}

function chainAt(rpcUrl: string): MutantTools['chain'] {
  return async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await send(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await answer.body.json()) as { result?: unknown; error?: { message: string } }
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

/**
 * Puts a mutant in front of the unbroken server, at a free port of this machine.
 *
 * @param onBroken is told when the mutant itself fails: then it proves nothing
 */
export async function serveMutant(
  mutant: Mutant,
  { serverUrl, fixture }: { readonly serverUrl: string; readonly fixture: Fixture },
  onBroken: (error: unknown) => void,
): Promise<ServedMutant> {
  const forward = forwardTo(serverUrl)
  const tools: MutantTools = { fixture, chain: chainAt(fixture.chain.rpcUrl), memory: new Map() }

  async function answer(request: MutantRequest): Promise<MutantResponse> {
    const path = request.path.split('?')[0]
    const handlers = { '/execute': mutant.execute, '/quota': mutant.quota, '/api/eth-rpc': mutant.rpc }
    const handler = request.method === 'POST' ? handlers[path as keyof typeof handlers] : undefined
    return handler ? handler(request, forward, tools) : forward(request)
  }

  const server = createServer((incoming, outgoing) => {
    read(incoming)
      .then(answer)
      .catch((error: unknown) => {
        onBroken(error)
        return respond(500, { message: 'the mutant itself failed' })
      })
      .then(({ status, headers, text }) => outgoing.writeHead(status, headers).end(text), onBroken)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
