import { type Signer, Wallet } from 'ethers'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChain, type ChainOptions } from '../../../contracts/chain.ts'
import { NodeProvider } from '../../../contracts/deploy/node-provider.ts'
import { signerOnNode } from '../../../contracts/deploy/signer-on-node.ts'
import { startAnvil as startAnvilProcess } from '../../../testbed/test/support/nodes.ts'

/** A real development node of its own for a test. */
export interface TestNode {
  readonly name: 'hardhat' | 'anvil'
  readonly rpcUrl: string
  /** Asks the node itself, past everything that is tested. @throws Error with the node's code */
  request<Result = unknown>(method: string, ...params: unknown[]): Promise<Result>
  /** The first of the well-known accounts; both nodes have the same. */
  readonly wallet: Wallet
  /** The same account, for which the node signs. */
  readonly deployer: Signer
  readonly accounts: readonly string[]
  close(): Promise<void>
}

/** The kinds of nodes that the methods are tested in front of. */
export const nodeKinds: Readonly<Record<TestNode['name'], () => Promise<TestNode>>> = {
  hardhat: () => startHardhat(),
  anvil: startAnvil,
}

/** Known to everyone: the first account of the test mnemonic. */
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

async function startHardhat(options: ChainOptions = {}): Promise<TestNode> {
  const chain = await startChain(options)
  return describeNode('hardhat', chain.rpcUrl, () => chain.close())
}

/** The contract that tells a chain of the OP Stack the fees of the chain below. */
const L1_BLOCK = '0x4200000000000000000000000000000000000015'
/** In slot 3, by its ABI: the factor of the base fee below. It is 0 on a new chain, where data costs nothing. */
const FEE_FACTOR = { slot: '0x3', value: `0x${'00'.repeat(16)}000f4240${'00'.repeat(12)}` }

/** A rollup on which the data of a transaction costs something. */
export async function startRollup(): Promise<TestNode> {
  const node = await startHardhat({ isRollup: true })
  await node.request('hardhat_setStorageAt', L1_BLOCK, FEE_FACTOR.slot, FEE_FACTOR.value)
  return node
}

async function startAnvil(): Promise<TestNode> {
  const anvil = await startAnvilProcess('--gas-limit', '100000000')
  return describeNode('anvil', anvil.rpcUrl, () => anvil.close())
}

async function describeNode(name: TestNode['name'], rpcUrl: string, close: () => Promise<void>): Promise<TestNode> {
  const provider = new NodeProvider(rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
  const request = async <Result>(method: string, ...params: unknown[]): Promise<Result> => {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: Result; error?: { code: number; message: string } }
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  }
  const wallet = new Wallet(FIRST_KEY, provider)
  return {
    name,
    rpcUrl,
    request,
    wallet,
    deployer: signerOnNode(provider, wallet.address),
    accounts: await request<string[]>('eth_accounts'),
    close: async () => {
      provider.destroy()
      await close()
    },
  }
}

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
  /** A method whose results are all null, as those of a node that has not indexed them yet. */
  blindMethod?: string
  /** Breaks every connection, whether the node has got the request or not, and takes no new ones. */
  goDown(): void
  comeBack(): void
  close(): Promise<void>
}

interface Call {
  readonly method: string
}

/** The answers to one request or a batch, with null as the result of a method. */
function withNull(method: string, body: string, text: string): string {
  const calls = [JSON.parse(body) as (Call & { id: unknown }) | (Call & { id: unknown })[]].flat()
  const ids = new Set(calls.filter((call) => call.method === method).map(({ id }) => id))
  const answers = JSON.parse(text) as { id: unknown; result?: unknown } | { id: unknown; result?: unknown }[]
  for (const answer of [answers].flat()) if (ids.has(answer.id)) answer.result = null
  return JSON.stringify(answers)
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
      const { blindMethod } = proxy
      const shown = blindMethod === undefined ? text : withNull(blindMethod, body, text)
      response.setHeader('content-type', 'application/json').end(shown)
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
