import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { JsonRpcProvider, Wallet } from 'ethers'
import { walkLogs } from '../../../server/walk-logs.ts'
import { startServerProcess } from '../../../testbed/processes.ts'
import { testKey, createRpcClient } from '../../../testbed/relay-world.ts'
import { median, type Aim } from '../support/figures.ts'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../contracts/deploy/seeds.ts'

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
    // The process warms up on other answers than those that are measured.
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

/** Starts a proxy between server and node, which counts the logs that pass. */
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

/** A chain with very many logs of one contract. */
export interface LogWorld {
  readonly emitter: string
  readonly fromBlock: number
  /** Last block of the first tenth of the logs. */
  readonly tenthBlock: number
  readonly toBlock: number
  readonly count: number
  readonly tenthCount: number
}

const BLOCKS = 1000
const LOGS = 100_000
const LARGE_BLOCK = 500
const LARGE_LOGS = 5000
const FEES = { type: 2, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n } as const
const GAS_PER_LOG = 3000n

/** 100,000 logs in 1,000 blocks, one of them with 5,000: a transaction per block. */
export async function seedLogWorld(rpcUrl: string): Promise<LogWorld> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const wallet = new Wallet(testKey(0), provider)
    const { bytecode } = await loadArtifact('LogEmitter')
    let nonce = await wallet.getNonce()
    const gasLimit = 3_000_000n
    const creation = await wallet.sendTransaction({ data: bytecode, nonce: nonce++, gasLimit, ...FEES })
    const emitter = (await creation.wait(1, 10_000))?.contractAddress ?? ''
    const first = (await provider.getBlockNumber()) + 1

    let left = LOGS - LARGE_LOGS
    let count = 0
    let tenth = { block: 0, count: 0 }
    for (let block = 0; block < BLOCKS; block++) {
      const share = Math.ceil(left / (BLOCKS - block - (block < LARGE_BLOCK ? 1 : 0)))
      const logs = block === LARGE_BLOCK ? LARGE_LOGS : share
      if (block !== LARGE_BLOCK) left -= share
      const data = logEmitterInterface.encodeFunctionData('emitLogs', [logs])
      const gas = 100_000n + GAS_PER_LOG * BigInt(logs)
      await wallet.sendTransaction({ to: emitter, data, nonce: nonce++, gasLimit: gas, ...FEES })
      count += logs
      if (count <= LOGS / 10) tenth = { block: first + block, count }
    }
    return {
      emitter,
      fromBlock: first,
      tenthBlock: tenth.block,
      toBlock: first + BLOCKS - 1,
      count,
      tenthCount: tenth.count,
    }
  } finally {
    provider.destroy()
  }
}
