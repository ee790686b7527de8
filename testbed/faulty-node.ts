import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

/**
 * The faults that a node can have. A `deaf` node executes calls and never answers. A `flapping` node works, hangs, refuses and
 * answers nonsense in turn.
 */
export const FAULTS = ['frozen', 'hanging', 'deaf', 'busy', 'fork', 'nonsense', 'foreign', 'flapping'] as const
export type Fault = (typeof FAULTS)[number]

/** A proxy in front of a real node, which gives it one fault. */
export interface FaultyNode {
  readonly url: string
  /** The calls that the node received. The calls of a batch are listed one by one. */
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[]
  /** The highest block number in any answer that was sent. */
  readonly toldHead: number
  /** The least time of an answer, in milliseconds. */
  delayMs: number
  /** Gives the node a fault from now on. Undefined: the node works again, and answers the calls that still wait. */
  setFault(fault: Fault | undefined): Promise<void>
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: unknown[]
}

const NONSENSE = [null, {}, [], 'nonsense', -1, '0xzz', true, { number: 1, hash: {} }]
/** Seconds in the `Retry-After` of a busy node. */
export const REST_SECONDS = 2
/** The number of answers after which a flapping node changes its fault. */
const FLAP = 15

export async function startFaultyNode(target: string): Promise<FaultyNode> {
  let fault: Fault | undefined
  let frozenAt = 0
  let answered = 0
  let toldHead = 0
  const left: (() => void)[] = []
  const calls: FaultyNode['calls'] = []

  const forward = (body: unknown) => postJson(target, body)
  const ask = async (method: string, params: unknown[]) => {
    const { result } = (await forward({ jsonrpc: '2.0', id: 1, method, params })) as { result: unknown }
    return result
  }

  async function answerOne(call: Call, response: ServerResponse): Promise<unknown> {
    const { id, method, params } = call
    if (fault === 'foreign' && method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x999' }
    if (fault === 'nonsense') return { jsonrpc: '2.0', id, result: NONSENSE[answered % NONSENSE.length] }
    if (fault === 'frozen' && method === 'eth_blockNumber') {
      return { jsonrpc: '2.0', id, result: `0x${frozenAt.toString(16)}` }
    }
    const asked = fault === 'frozen' ? asOf(call, frozenAt) : call
    const answer = (await forward(asked)) as { result?: unknown }
    if (fault === 'frozen' && blockOf(answer.result) > frozenAt) return { jsonrpc: '2.0', id, result: null }
    if (fault === 'fork') return { ...answer, result: onFork(answer.result, frozenAt, params) }
    const head = method === 'eth_blockNumber' ? Number(answer.result) : blockOf(answer.result)
    response.on('finish', () => (toldHead = Math.max(toldHead, head)))
    return answer
  }

  async function respond(response: ServerResponse, asked: string): Promise<void> {
    // Each call of a batch adds a listener.
    response.setMaxListeners(0)
    answered++
    const body = JSON.parse(asked) as Call | Call[]
    for (const call of [body].flat()) calls.push(call)
    const now = fault === 'flapping' ? flapping(answered) : fault
    if (now === 'hanging' || now === 'deaf') {
      if (now === 'deaf') await forward(body)
      left.push(() => void respond(response, asked).catch(() => response.destroy()))
      return
    }
    if (now === 'busy') return void response.writeHead(429, { 'retry-after': String(REST_SECONDS) }).end('slow down')
    if (now === 'nonsense' && answered % 2 === 0) return void response.end('<html>Welcome to nginx</html>')
    const answers = Array.isArray(body)
      ? await Promise.all(body.map((call) => answerOne(call, response)))
      : await answerOne(body, response)
    if (node.delayMs > 0) await sleep(node.delayMs)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
  }

  const server = createServer((incoming, response) => {
    text(incoming)
      .then((body) => respond(response, body))
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const node: FaultyNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    delayMs: 0,
    get toldHead() {
      return toldHead
    },
    setFault: async (next) => {
      if (next === 'frozen' || next === 'fork') frozenAt = Number(await ask('eth_blockNumber', []))
      fault = next
      // A client asks for the chain id when it connects again.
      if (next === 'foreign') server.closeAllConnections()
      if (next === undefined) for (const answer of left.splice(0)) answer()
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return node
}

async function postJson(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const { body: answer } = await request(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.json()
}

function flapping(answered: number): Fault | undefined {
  const phases: (Fault | undefined)[] = [undefined, 'hanging', undefined, 'busy', undefined, 'nonsense']
  return phases[Math.floor(answered / FLAP) % phases.length]
}

/** The call with the frozen block in place of `latest` and `pending`. */
function asOf(call: Call, frozenAt: number): Call {
  const at = `0x${frozenAt.toString(16)}`
  return { ...call, params: call.params.map((param) => (param === 'latest' || param === 'pending' ? at : param)) }
}

/** The block number in a result; -1: it has none. */
function blockOf(result: unknown): number {
  if (typeof result !== 'object' || result === null) return -1
  const { number, blockNumber } = result as { number?: unknown; blockNumber?: unknown }
  return Number(number ?? blockNumber ?? -1)
}

/** The result as a fork has it: other hashes above the block where the chains part, and other balances. */
function onFork(result: unknown, partedAt: number, params: readonly unknown[]): unknown {
  if (typeof result === 'string' && params[1] === 'latest' && params.length === 2)
    return `0x${(BigInt(result) + 1n).toString(16)}`
  if (typeof result !== 'object' || result === null || blockOf(result) <= partedAt) return result
  // Never the hash itself, whatever that is.
  const other = (hash: unknown) => (typeof hash === 'string' ? flipped(hash) : hash)
  const { hash, parentHash, blockHash, ...rest } = result as Record<string, unknown>
  const isFirst = blockOf(result) === partedAt + 1
  return {
    ...rest,
    ...(hash !== undefined && { hash: other(hash), parentHash: isFirst ? parentHash : other(parentHash) }),
    ...(blockHash !== undefined && { blockHash: other(blockHash) }),
  }
}

const flipped = (hash: string) => `0x${(15 - Number(`0x${hash[2]}`)).toString(16)}${hash.slice(3)}`
