import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { walkLogs } from '../../../server/walk-logs.ts'
import { startServerProcess } from '../../../testbed/processes.ts'
import { testKey, createRpcClient } from '../../../testbed/relay-world.ts'
import { median } from '../support/statistics.ts'
import type { Aim } from '../support/aim.ts'
import type { LogWorld } from './log-world.ts'

const FETCHED_OVER_DELIVERED = 1.05
const TIME_RATIO = 11

interface Walk {
  readonly delivered: number
  readonly fetched: number
  readonly ms: number
}

/** Walks over all logs and over a tenth of them, each through a server that has seen none of them before. */
export async function measureWalk(nodeUrl: string, world: LogWorld, rounds: number): Promise<Aim[]> {
  const proxy = await startCountingProxy(nodeUrl)
  try {
    const walks: Record<'tenth' | 'all', Walk[]> = { tenth: [], all: [] }
    for (let round = 0; round < rounds; round++) {
      walks.tenth.push(await walk(proxy, world, world.tenthBlock))
      walks.all.push(await walk(proxy, world, world.toBlock))
    }
    console.log(`\nWalk over logs, median of ${rounds} rounds\n`)
    console.log('| logs delivered | fetched from the node | fetched/delivered | ms | logs/s |')
    console.log('|---|---|---|---|---|')
    const row = (name: 'tenth' | 'all') => {
      const delivered = median(walks[name].map((one) => one.delivered))
      const fetched = median(walks[name].map((one) => one.fetched))
      const ms = median(walks[name].map((one) => one.ms))
      const cells = [
        delivered,
        fetched,
        (fetched / delivered).toFixed(3),
        ms.toFixed(0),
        ((delivered / ms) * 1000).toFixed(0),
      ]
      console.log(`| ${cells.join(' | ')} |`)
      return { delivered, fetched, ms }
    }
    const [tenth, all] = [row('tenth'), row('all')]
    if (all.delivered !== world.count || tenth.delivered !== world.tenthCount) throw new Error('the walk lost logs')
    return [
      { name: 'walk: fetched over delivered', value: all.fetched / all.delivered, atMost: FETCHED_OVER_DELIVERED },
      { name: 'walk: time of 100,000 over time of 10,000', value: all.ms / tenth.ms, atMost: TIME_RATIO },
    ]
  } finally {
    await proxy.close()
  }
}

async function walk(proxy: CountingProxy, world: LogWorld, toBlock: number): Promise<Walk> {
  const server = await startServerProcess({ rpcUrl: proxy.url, signerKeys: [testKey(16)] })
  const client = createRpcClient(`${server.url}/api/eth-rpc`, 1)
  const request = ({ method, params }: { method: string; params: readonly unknown[] }) => client.call(method, ...params)
  try {
    const range = { fromBlock: `0x${world.fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }
    // The process has to warm up on other answers than those that are measured.
    for await (const log of walkLogs(request, { ...range, topics: [`0x${'00'.repeat(32)}`] })) void log
    const warmUp = { fromBlock: range.fromBlock, toBlock: `0x${world.tenthBlock.toString(16)}` }
    for await (const log of walkLogs(request, warmUp)) void log
    proxy.reset()
    const begun = performance.now()
    let delivered = 0
    for await (const log of walkLogs(request, { ...range, address: world.emitter })) if (log.address) delivered++
    return { delivered, fetched: proxy.logs(), ms: performance.now() - begun }
  } finally {
    await client.close()
    await server.close()
  }
}

interface CountingProxy {
  readonly url: string
  /** Logs that passed since the last reset. */
  logs(): number
  reset(): void
  close(): Promise<void>
}

/** Stands between server and node, and counts the logs that pass. */
async function startCountingProxy(nodeUrl: string): Promise<CountingProxy> {
  const node = createRpcClient(nodeUrl, 16)
  let logs = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      node.post(body).then(
        ({ status, text }) => {
          if (body.includes('eth_getLogs')) logs += text.split('"logIndex"').length - 1
          response.writeHead(status, { 'content-type': 'application/json' }).end(text)
        },
        () => response.destroy(),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    logs: () => logs,
    reset: () => (logs = 0),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await node.close()
    },
  }
}
