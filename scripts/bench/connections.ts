import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { numberOf } from '../parse-command.ts'
import { judgeAims, type Aim, median, quantile } from './support/figures.ts'
import { startNode, startServerProcess, startScript, type Started } from '../../testbed/processes.ts'
import { testKey, createRpcClient } from '../../testbed/relay-world.ts'

const usage = `Usage: touchstone bench connections [--rounds 3] [--seconds 2]

What a normal caller waits for an answer, alone and beside connections that are of no use: 200 that say nothing, 50 that
have sent half of a request and are gone, 50 that send a byte every 100 ms, 20 that ask for much and read nothing; then all of
them. Each round measures the caller alone and beside every crowd, in the same run. Aim: p99 within 2 times.
`

const crowds: Readonly<Record<string, string>> = {
  '200 idle': 'idle=200',
  '50 half-open': 'halfOpen=50',
  '50 slow senders': 'slowSender=50',
  '20 slow readers': 'slowReader=20',
  'all of them': 'idle=200,halfOpen=50,slowSender=50,slowReader=20',
}

/** A request that is answered from memory, and one that takes a call to the node. */
const requests: Readonly<Record<string, unknown[]>> = {
  eth_chainId: [],
  eth_getBalance: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'latest'],
}

const MOST_TIMES = 2
/** Time for the crowd to connect, because its connecting is not measured. */
const SETTLE_MS = 500

/**
 * The benchmark `connections`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const rounds = numberOf(values, 'rounds')
  const seconds = numberOf(values, 'seconds')
  const node = await startNode('anvil')
  try {
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: [testKey(16)] })
    try {
      const aims: Aim[] = []
      console.log(`one caller, one request after the other; median of ${rounds} rounds of ${seconds} s, in ms\n`)
      console.log('| method | beside | p50 | p99 | p99 alone | times | failed |')
      console.log('|---|---|---|---|---|---|---|')
      for (const [method, params] of Object.entries(requests)) {
        aims.push(...(await measureMethod(server.url, method, params, { rounds, seconds })))
      }
      return judgeAims(aims)
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}

/** How long one caller waited. */
interface Waiting {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

async function measureMethod(
  url: string,
  method: string,
  params: readonly unknown[],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Aim[]> {
  const client = createRpcClient(`${url}/api/eth-rpc`, 1)
  const measure = async (): Promise<Waiting> => {
    const waits: number[] = []
    let failed = 0
    const endMs = performance.now() + seconds * 1000
    for (let begunMs = performance.now(); begunMs < endMs; begunMs = performance.now()) {
      await client.call(method, ...params).catch(() => failed++)
      waits.push(performance.now() - begunMs)
    }
    return { p50Ms: median(waits), p99Ms: quantile(waits, 0.99), failed }
  }
  await measure()

  const aims: Aim[] = []
  for (const [name, crowd] of Object.entries(crowds)) {
    const results: { alone: Waiting; beside: Waiting }[] = []
    for (let round = 0; round < rounds; round++) {
      const alone = await measure()
      const others = await startCrowd(url, crowd)
      await sleep(SETTLE_MS)
      const beside = await measure()
      await others.kill()
      results.push({ alone, beside })
    }
    const times = median(results.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms))
    const failed = results.reduce((sum, { alone, beside }) => sum + alone.failed + beside.failed, 0)
    const of = (value: (result: (typeof results)[number]) => number) => median(results.map(value)).toFixed(2)
    const cells = [of(({ beside }) => beside.p50Ms), of(({ beside }) => beside.p99Ms), of(({ alone }) => alone.p99Ms)]
    console.log(`| ${[method, name, ...cells, times.toFixed(2), failed].join(' | ')} |`)
    aims.push({ name: `${method} beside ${name}: p99, times that alone`, value: times, atMost: MOST_TIMES })
    aims.push({ name: `${method} beside ${name}: failed`, value: failed, atMost: 0 })
  }
  await client.close()
  return aims
}

/** Starts a crowd. When the crowd is killed, its connections are cut off. */
function startCrowd(url: string, crowd: string): Promise<Started> {
  return startScript('scripts/bench/connections/crowd', [url, crowd])
}
