import { JsonRpcProvider, Wallet } from 'ethers'
import { readFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../contracts/deploy/seeds.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'
import { testKey, rpcBody } from '../../../testbed/relay-world.ts'
import { byWebSocket, startNode, startScript, startServerProcess, type Started } from '../../../testbed/processes.ts'
import { median, type Aim } from '../support/figures.ts'
import { startPostgres } from '../../../testbed/postgres.ts'
import { optionalCommand } from '../../../server/core/optional-package.ts'

interface LoadOptions {
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/**
 * The methods that the server answers from memory: the chain's id, and a final receipt while the head stays the same. For the
 * other methods it asks a development node each time, because the node's tools change them without a block. Requests that
 * wait at the same time share one call.
 */
const CACHED = ['eth_chainId', 'eth_getTransactionReceipt']
/** The methods that it answers from memory where an answer may have an age (`chain.headMaxAgeMs`). */
const CACHED_FOR_A_WHILE = ['eth_blockNumber', 'eth_getBalance']
const AGE_MS = 100
const AGED = `the same, ${AGE_MS} ms` as const
const FLOOR_SHARE = 0.6
const NODE_RATIO = 1.3

/** One result for each round. */
type Results = Record<Target, CannonResult[]>

const targets = ['floor', 'hardhat', 'endpoint on hardhat', AGED, 'anvil', 'endpoint on anvil'] as const
type Target = (typeof targets)[number]

/** Requests per second of four methods: through the endpoint, beside the nodes themselves and a bare Koa route. */
export async function measureLoad({ connections, seconds, rounds }: LoadOptions): Promise<Aim[]> {
  const started: Started[] = []
  const start = async (starting: Promise<Started>) => {
    const one = await starting
    started.push(one)
    return one.url
  }
  try {
    const hardhat = await start(startNode('hardhat'))
    const anvil = await start(startNode('anvil'))
    const serve = async (rpcUrl: string, ageMs = 0) => {
      const environment = { TOUCHSTONE_CHAIN_HEAD_MAX_AGE_MS: String(ageMs) }
      return `${await start(startServerProcess({ rpcUrl, signerKeys: [testKey(16)], environment }))}/api/eth-rpc`
    }
    const urls: Record<Target, string> = {
      floor: await start(startFloor()),
      hardhat,
      'endpoint on hardhat': await serve(hardhat),
      [AGED]: await serve(byWebSocket(hardhat), AGE_MS),
      anvil,
      'endpoint on anvil': await serve(anvil),
    }
    const bodies: Record<string, Record<'hardhat' | 'anvil', string>> = {}
    for (const kind of ['hardhat', 'anvil'] as const) {
      for (const [method, body] of Object.entries(await prepare(urls[kind]))) {
        bodies[method] = { ...bodies[method], [kind]: body } as Record<'hardhat' | 'anvil', string>
      }
    }
    console.log(`\n${connections} connections, median of ${rounds} rounds of ${seconds} s: requests/s (p99 ms)`)
    console.log(
      `ratios are medians of those of each round; aims are for what is cached: ${[...CACHED, ...CACHED_FOR_A_WHILE].join(', ')}\n`,
    )
    console.log(`| method | ${targets.join(' | ')} | of the floor | times Hardhat | ${AGED} |`)
    console.log(`|---|${targets.map(() => '---|').join('')}---|---|---|`)
    const aims: Aim[] = []
    for (const [method, body] of Object.entries(bodies)) {
      const results = await measure(urls, body, { connections, seconds, rounds })
      const share = medianRatio(results, 'endpoint on hardhat', 'floor')
      const ratio = medianRatio(results, 'endpoint on hardhat', 'hardhat')
      const agedRatio = medianRatio(results, AGED, 'hardhat')
      const cells = targets.map((target) => {
        const rate = median(results[target].map(({ perSecond }) => perSecond))
        return `${rate.toFixed(0)} (${median(results[target].map(({ p99Ms }) => p99Ms)).toFixed(0)})`
      })
      console.log(
        `| ${method} | ${cells.join(' | ')} | ${share.toFixed(2)} | ${ratio.toFixed(2)} | ${agedRatio.toFixed(2)} |`,
      )
      if (CACHED_FOR_A_WHILE.includes(method)) {
        aims.push({ name: `${method}, ${AGE_MS} ms old: times Hardhat`, value: agedRatio, atLeast: NODE_RATIO })
      }
      if (!CACHED.includes(method)) continue
      aims.push({ name: `${method}: share of the floor`, value: share, atLeast: FLOOR_SHARE })
      aims.push({ name: `${method}: times Hardhat`, value: ratio, atLeast: NODE_RATIO })
    }
    return aims
  } finally {
    for (const one of started.reverse()) await one.close()
  }
}

/** Measures the targets in turn, round by round, so that a disturbance of the machine affects all of them. */
async function measure(
  urls: Record<Target, string>,
  body: Record<'hardhat' | 'anvil', string>,
  { connections, seconds, rounds }: LoadOptions,
): Promise<Results> {
  const targets = Object.entries(urls) as [Target, string][]
  const results = new Map<Target, CannonResult[]>(targets.map(([target]) => [target, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [target, url] of targets) {
      const kind = target.endsWith('anvil') ? 'anvil' : 'hardhat'
      const warmUp = round === 0
      const result = await fire({ url, body: body[kind], connections, seconds: warmUp ? 1 : seconds })
      if (!warmUp) results.get(target)?.push(result)
    }
  }
  return Object.fromEntries(results) as Results
}

/** The median ratio of the rates in the same round, so that a slow round changes nothing. */
function medianRatio(results: Results, target: Target, other: Target): number {
  return median(results[target].map(({ perSecond }, round) => perSecond / (results[other][round]?.perSecond ?? NaN)))
}

/** The number of logs of the transaction whose receipt is requested, as many as those of a relay call. */
const LOGS = 4

/** A chain with a transaction that lies deep enough to be final, and the four bodies. */
async function prepare(nodeUrl: string): Promise<Record<string, string>> {
  const provider = new JsonRpcProvider(nodeUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const wallet = new Wallet(testKey(0), provider)
    const sender = await createSender(wallet)
    const { bytecode } = await loadArtifact('LogEmitter')
    const { address, deployed } = sender.deploy(bytecode)
    await deployed
    const data = logEmitterInterface.encodeFunctionData('emitLogs', [LOGS])
    const { hash } = await sender.mined(await sender.send({ to: address, data }))
    for (let block = 0; block < 20; block++) await provider.send('evm_mine', [])
    return {
      eth_chainId: rpcBody('eth_chainId', []),
      eth_blockNumber: rpcBody('eth_blockNumber', []),
      eth_getBalance: rpcBody('eth_getBalance', [wallet.address, 'latest']),
      eth_getTransactionReceipt: rpcBody('eth_getTransactionReceipt', [hash]),
    }
  } finally {
    provider.destroy()
  }
}

function startFloor(): Promise<Started> {
  return startScript('scripts/bench/support/floor', ['eth-rpc'], { environment: { NODE_ENV: 'production' } })
}

const WORKERS = 2
const RATIO = 1.6
const METHODS = ['eth_chainId', 'eth_blockNumber']

/**
 * Compares two workers with one process, at the same number of callers. The figure is the number of requests for each second of
 * CPU of the busiest process. That is the rate on a machine where each worker has a core of its own, and node, database and
 * load generator have other cores.
 */
export async function measureWorkers({ connections, seconds, rounds }: LoadOptions): Promise<Aim[]> {
  const started: { close(): Promise<unknown> }[] = []
  const keep = <T extends { close(): Promise<unknown> }>(one: T): T => {
    started.push(one)
    return one
  }
  try {
    const postgres = keep(await startPostgres())
    const node = keep(await startNode('anvil'))
    const serve = async (workers: number) =>
      keep(
        await startServerProcess({
          rpcUrl: node.url,
          signerKeys: [testKey(16)],
          databaseUrl: await postgres.createDatabase(),
          workers,
        }),
      )
    const servers = [await serve(1), await serve(WORKERS)] as const
    console.log(
      `\n${connections} connections for each process, median of ${rounds} rounds of ${seconds} s: requests/s of the busiest core\n`,
    )
    console.log(`| method | one process | ${WORKERS} workers | times |\n|---|---|---|---|`)
    const aims: Aim[] = []
    for (const method of METHODS) {
      const rates: number[][] = []
      for (let round = 0; round <= rounds; round++) {
        const both = [await rateOf(servers[0], 1), await rateOf(servers[1], WORKERS)]
        // The first round warms up.
        if (round > 0) rates.push(both)
      }
      const [one, all] = [0, 1].map((at) => median(rates.map((both) => both[at] ?? NaN)))
      const times = median(rates.map(([alone = NaN, together = NaN]) => together / alone))
      console.log(`| ${method} | ${one?.toFixed(0)} | ${all?.toFixed(0)} | ${times.toFixed(2)} |`)
      aims.push({ name: `${method}: ${WORKERS} workers, times one process`, value: times, atLeast: RATIO })

      async function rateOf({ url, pid }: Started, workers: number): Promise<number> {
        const before = await cpuSeconds(pid)
        const { perSecond } = await fire({
          url: `${url}/api/eth-rpc`,
          body: rpcBody(method, []),
          connections: connections * workers,
          seconds,
        })
        const after = await cpuSeconds(pid)
        return (perSecond * seconds) / Math.max(...[...after].map(([one, used]) => used - (before.get(one) ?? 0)))
      }
    }
    return aims
  } finally {
    for (const one of started.reverse()) await one.close()
  }
}

/** Clock ticks a second on Linux. */
const TICKS = 100

/** Seconds of CPU of a process, and of each of its children, since their start. */
async function cpuSeconds(pid: number): Promise<Map<number, number>> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean)
  const used = [pid, ...children.map(Number)].map(async (one) => {
    // The name of the command, which may hold anything, ends with the last parenthesis.
    const stat = await readFile(`/proc/${one}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [one, (Number(fields[11]) + Number(fields[12])) / TICKS] as const
  })
  return new Map(await Promise.all(used))
}

interface CannonResult {
  readonly perSecond: number
  readonly p99Ms: number
}

interface CannonOptions {
  readonly url: string
  readonly body: string
  readonly connections: number
  readonly seconds: number
}

/**
 * Posts one body again and again, from a process of its own.
 *
 * @throws Error when an answer is another one than the first
 */
async function fire({ url, body, connections, seconds }: CannonOptions): Promise<CannonResult> {
  const headers = { 'content-type': 'application/json' }
  const expected = await (await fetch(url, { method: 'POST', headers, body })).text()
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      optionalCommand('autocannon'),
      ...['--json', '--connections', String(connections), '--duration', String(seconds)],
      ...['--method', 'POST', '--headers', 'content-type=application/json', '--body', body],
      ...['--expectBody', expected, url],
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  const result = JSON.parse(stdout) as {
    readonly duration: number
    readonly mismatches: number
    readonly errors: number
    readonly non2xx: number
    readonly requests: { readonly total: number }
    readonly latency: { readonly p99: number }
  }
  const { mismatches, errors, non2xx } = result
  if (mismatches + errors + non2xx > 0) {
    throw new Error(`${url}: ${mismatches} other answers, ${errors} errors, ${non2xx} without 2xx`)
  }
  return { perSecond: result.requests.total / result.duration, p99Ms: result.latency.p99 }
}
