import type { Started } from '../../../testbed/processes.ts'
import { createRpcClient, rpcBody } from '../../../testbed/relay-world.ts'
import { quantile, residentMib, type Aim } from '../support/figures.ts'
import type { LogWorld } from './walk.ts'
import { createRandom, generateBodies } from '../../../testbed/generated-bodies.ts'

const BATCHES = 64
const LENGTH = 100
const SECONDS = 5
const GROWTH_MIB = 1024
const SINGLE_P99_MS = 1000

/** Keeps 64 batches of 100 calls in flight. Measures memory, and how long a single caller waits meanwhile. */
export async function measureBatches(server: Started, world: LogWorld): Promise<Aim[]> {
  const url = `${server.url}/api/eth-rpc`
  const aims: Aim[] = []
  console.log(`\n${BATCHES} batches of ${LENGTH} in flight for ${SECONDS} s, and a single caller of eth_getBalance\n`)
  console.log('| batches of | calls/s | MiB before | MiB peak | single p50 ms | single p99 ms | alone p99 ms |')
  console.log('|---|---|---|---|---|---|---|')
  const kinds: [string, (index: number) => string][] = [
    ['eth_getBalance', (index) => rpcBody('eth_getBalance', [addressOf(index), 'latest'], index)],
    ['eth_getLogs', (index) => rpcBody('eth_getLogs', [{ ...rangeOf(world, index), address: world.emitter }], index)],
  ]
  for (const [name, request] of kinds) {
    const alone = await singleLatencies(url, 1)
    const before = await residentMib(server.pid)
    const client = createRpcClient(url, BATCHES)
    const end = performance.now() + SECONDS * 1000
    let [calls, peak, next] = [0, before, 0]
    const sender = async () => {
      while (performance.now() < end) {
        const from = (next += LENGTH)
        await client.post(`[${Array.from({ length: LENGTH }, (_, index) => request(from + index)).join(',')}]`)
        calls += LENGTH
        peak = Math.max(peak, await residentMib(server.pid))
      }
    }
    const [single] = await Promise.all([singleLatencies(url, SECONDS), ...Array.from({ length: BATCHES }, sender)])
    await client.close()
    const p99 = quantile(single, 0.99)
    const cells = [calls / SECONDS, before, peak, quantile(single, 0.5), p99, quantile(alone, 0.99)]
    console.log(`| ${name} | ${cells.map((value) => value.toFixed(1)).join(' | ')} |`)
    aims.push({ name: `batches of ${name}: MiB more at the peak`, value: peak - before, atMost: GROWTH_MIB })
    aims.push({ name: `batches of ${name}: p99 ms of the single caller`, value: p99, atMost: SINGLE_P99_MS })
  }
  return aims
}

/** Sends one call after the other over a connection of its own. */
async function singleLatencies(url: string, seconds: number): Promise<number[]> {
  const client = createRpcClient(url, 1)
  const latencies: number[] = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    const begun = performance.now()
    await client.call('eth_getBalance', addressOf(0), 'latest')
    latencies.push(performance.now() - begun)
  }
  await client.close()
  return latencies
}

const addressOf = (index: number) => `0x${(index % 5000).toString(16).padStart(40, '0')}`

/** A range of about 10 blocks with 1000 logs, another range for each call. */
function rangeOf({ fromBlock, toBlock }: LogWorld, index: number) {
  const from = fromBlock + (index % (toBlock - fromBlock - 20))
  return { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${(from + 10).toString(16)}` }
}

/** The most that the process may grow between the first quarter and the end, in MiB. */
const GROWTH = 1.3

/** Sends generated bodies; every answer must be JSON without a status of 500 or more. */
export async function measureBodies(server: Started, count: number, seed: number): Promise<Aim[]> {
  const client = createRpcClient(`${server.url}/api/eth-rpc`, 8)
  const bodies = generateBodies(count, createRandom(seed))
  const statuses: Record<number, number> = {}
  const memory: number[] = []
  let sent = 0
  let faults = 0
  const begun = performance.now()
  const worker = async () => {
    for (const body of bodies) {
      const { status, text } = await client.post(body)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status >= 500 || !isJson(text)) {
        faults++
        console.log(`${status} for ${body.toString('latin1').slice(0, 500)}: ${text.slice(0, 200)}`)
      }
      if (++sent % Math.ceil(count / 4) === 0) memory.push(await residentMib(server.pid))
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const seconds = (performance.now() - begun) / 1000
  const isAlive = await client.call('eth_chainId').then(
    () => true,
    () => false,
  )
  await client.close()
  console.log(`\n${sent} generated bodies, seed ${seed}, in ${seconds.toFixed(1)} s`)
  console.log(
    `statuses ${JSON.stringify(statuses)}, MiB at each quarter ${memory.map((mib) => mib.toFixed(0)).join(', ')}`,
  )
  return [
    { name: 'bodies: 5xx or no JSON', value: faults, atMost: 0 },
    { name: 'bodies: the server still answers', value: isAlive ? 1 : 0, atLeast: 1 },
    {
      name: 'bodies: memory at the end over that of the first quarter',
      value: (memory.at(-1) ?? 0) / (memory[0] ?? 1),
      atMost: GROWTH,
    },
  ]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
