import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { judgeAims, median, quantile } from './support/figures.ts'
import { choicesIn, numberOf } from '../parse-command.ts'
import { startCallers } from '../../testbed/trials/callers.ts'
import { FAULTS, startFaultyNode, type Fault, type FaultyNode } from '../../testbed/faulty-node.ts'
import { waitUntilSettled, auditFromOutside } from '../../testbed/trials/audit.ts'
import { startNode, startServerProcess } from '../../testbed/processes.ts'
import { provisionWorld, testKey, type RelayWorld, createRpcClient, type RpcClient } from '../../testbed/relay-world.ts'

const usage = `Usage: touchstone bench nodes [--only 2-deaf,3-flapping] [--rounds 10] [--reads 200] [--sends 10000]

A server in front of two and of three nodes, one of which is frozen, hangs, takes and never answers, is busy (429), is on a
fork, answers nonsense, is of another chain, or flaps; beside a server in front of one node that is well, in turns of some reads.
Aim: p99 of reads within 2 times that, median of the rounds; no head that is old or goes back, no wrong answer, no relay call sent twice.
`

const MOST_TIMES = 2
const IN_FLIGHT = 4
const BLOCK_MS = 200
const WORKERS = 8
const SETTLE_DEADLINE_MS = 60_000

const SCENARIOS = [2, 3].flatMap((count) => FAULTS.map((fault) => ({ count, fault })))
const nameOf = ({ count, fault }: (typeof SCENARIOS)[number]) => `${count}-${fault}`
const CASES = SCENARIOS.map(nameOf)

interface Outcome {
  readonly p50Ms: number
  readonly p99Ms: number
  /**
   * Heads that were more than one block behind the best head of the nodes, or behind a head that was answered before.
   */
  readonly stale: number
  /** Answers that were errors, or wrong. */
  readonly failed: number
}

/**
 * The benchmark `nodes`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: CASES.join() },
      rounds: { type: 'string', default: '10' },
      reads: { type: 'string', default: '200' },
      sends: { type: 'string', default: '10000' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const [rounds, reads, sends] = [numberOf(values, 'rounds'), numberOf(values, 'reads'), numberOf(values, 'sends')]
  const chosen = choicesIn('--only', values.only, CASES)
  const scenarios = SCENARIOS.filter((scenario) => chosen.includes(nameOf(scenario)))
  const chain = await startNode('anvil')
  const well = await startFaultyNode(chain.url)
  try {
    const world = await provisionWorld(chain.url)
    const alone = await startServerProcess({ rpcUrl: well.url, signerKeys: [testKey(15)] })
    const callsEach = Math.ceil(sends / scenarios.length / WORKERS)
    const total = { stale: 0, failed: 0, doubled: 0, sent: 0, times: [] as number[] }
    try {
      await measure(alone.url, world, [well], reads)
      console.log(
        '| nodes | one of them | p50 ms | p99 ms | p99 alone ms | times | stale heads | failed | sent | doubled |',
      )
      console.log('|---|---|---|---|---|---|---|---|---|---|')
      for (const [index, { count, fault }] of scenarios.entries()) {
        const { results, sent, doubled } = await runScenario(world, count, fault, {
          rounds,
          measureAlone: () => measure(alone.url, world, [well], reads),
          measureServer: (url, nodes) => measure(url, world, nodes, reads),
          callsEach,
          firstChannel: BigInt(1_000 * (index + 1)),
        })
        const of = (value: (result: Round) => number) => median(results.map(value))
        const times = of(({ faulty, floor }) => faulty.p99Ms / floor.p99Ms)
        const [p50Ms, p99Ms] = [of(({ faulty }) => faulty.p50Ms), of(({ faulty }) => faulty.p99Ms)]
        const floorMs = of(({ floor }) => floor.p99Ms)
        const stale = sum(results.map(({ faulty }) => faulty.stale))
        const failed = sum(results.map(({ faulty }) => faulty.failed))
        const figures = [p50Ms, p99Ms, floorMs, times].map((figure) => figure.toFixed(2))
        console.log(`| ${[count, fault, ...figures, stale, failed, sent, doubled].join(' | ')} |`)
        total.stale += stale
        total.failed += failed
        total.doubled += doubled
        total.sent += sent
        total.times.push(times)
      }
    } finally {
      await alone.close()
    }
    return judgeAims([
      {
        name: 'p99, times that of the node that is well, the worst',
        value: Math.max(...total.times),
        atMost: MOST_TIMES,
      },
      { name: 'stale heads', value: total.stale, atMost: 0 },
      { name: 'reads that failed', value: total.failed, atMost: 0 },
      { name: `relay calls of ${total.sent} that were sent twice, or lost`, value: total.doubled, atMost: 0 },
    ])
  } finally {
    await well.close()
    await chain.close()
  }
}

/** One after the other, on the same machine at the same time. */
interface Round {
  readonly floor: Outcome
  readonly faulty: Outcome
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

async function runScenario(
  world: RelayWorld,
  count: number,
  fault: Fault,
  {
    rounds,
    measureAlone,
    measureServer,
    callsEach,
    firstChannel,
  }: {
    readonly rounds: number
    readonly measureAlone: () => Promise<Outcome>
    readonly measureServer: (url: string, nodes: readonly FaultyNode[]) => Promise<Outcome>
    readonly callsEach: number
    readonly firstChannel: bigint
  },
): Promise<{ readonly results: readonly Round[]; readonly sent: number; readonly doubled: number }> {
  const nodes: FaultyNode[] = []
  for (let index = 0; index < count; index++) nodes.push(await startFaultyNode(world.rpcUrl))
  const [first, second] = nodes
  if (!first || !second) throw new Error('there are two nodes at least')
  // When two nodes are on two forks, the server believes the preferred node.
  const faulty = count === 2 && fault === 'fork' ? second : first
  const rpcUrls = nodes.map(({ url }) => url)
  const server = await startServerProcess({
    rpcUrl: first.url,
    signerKeys: world.signerKeys,
    config: { chain: { rpcUrls, confirmations: 0 } },
  })
  try {
    await measureServer(server.url, nodes)
    await faulty.setFault(fault)
    // A node shows its fork only when it has a block of its own.
    if (fault === 'fork') await measureServer(server.url, nodes)
    const results: Round[] = []
    for (let round = 0; round < rounds; round++) {
      results.push({ floor: await measureAlone(), faulty: await measureServer(server.url, nodes) })
    }
    const before = await headOf(world)
    const callers = startCallers({ world, workers: WORKERS, firstChannel, callsEach, url: () => server.url })
    await callers.finish()
    await faulty.setFault(undefined)
    await waitUntilSettled(server.url, SETTLE_DEADLINE_MS)
    const { faults, transactions } = await auditFromOutside(world, server.url, callers.acknowledged, before)
    for (const one of faults.slice(0, 5)) console.log(`  ${one}`)
    const sent = callers.acknowledged.length
    return { results, sent, doubled: faults.length + Math.max(0, transactions - sent) }
  } finally {
    await server.kill()
    for (const node of nodes) await node.close()
  }
}

/** The number of the head, after which the audit begins. */
async function headOf({ rpcUrl }: RelayWorld): Promise<number> {
  const chain = createRpcClient(rpcUrl, 1)
  try {
    return Number(await chain.call('eth_blockNumber'))
  } finally {
    await chain.close()
  }
}

/** Reads heads and balances in turn, while blocks come. Each answer is compared with the earlier answers of the nodes. */
async function measure(url: string, world: RelayWorld, nodes: readonly FaultyNode[], reads: number): Promise<Outcome> {
  const server = createRpcClient(`${url}/api/eth-rpc`, IN_FLIGHT)
  const chain = createRpcClient(world.rpcUrl, 1)
  const waits: number[] = []
  const address = world.fixture.controllers.full.address
  const balance = await chain.call('eth_getBalance', address, 'latest')
  let [stale, failed, lastHead, left, isOver] = [0, 0, 0, reads, false]
  const mining = mineUntil(chain, () => isOver)

  const readHead = async () => {
    const least = Math.max(lastHead, Math.max(...nodes.map(({ toldHead }) => toldHead)) - 1)
    const head = Number(await server.call('eth_blockNumber'))
    if (head < least) stale++
    lastHead = Math.max(lastHead, head)
  }
  const readBalance = async () => {
    if ((await server.call('eth_getBalance', address, 'latest')) !== balance) failed++
  }
  const caller = async () => {
    while (left-- > 0) {
      const begunMs = performance.now()
      await (left % 2 === 0 ? readHead() : readBalance()).catch(() => failed++)
      waits.push(performance.now() - begunMs)
    }
  }
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  } finally {
    isOver = true
    await mining
    await Promise.all([server.close(), chain.close()])
  }
  return { p50Ms: median(waits), p99Ms: quantile(waits, 0.99), stale, failed }
}

async function mineUntil(chain: RpcClient, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await chain.call('evm_mine')
    await sleep(BLOCK_MS)
  }
}
