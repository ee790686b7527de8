import { byWebSocket } from '../../../contracts/by-websocket.ts'
import type { Aim } from '../support/aim.ts'
import { waitUntilSettled } from '../support/invariants.ts'
import type { LoadResult } from '../support/load.ts'
import { startNode, startServerProcess, type NodeKind, type Started } from '../support/processes.ts'
import { provisionWorld } from '../support/relay-world.ts'
import { median } from '../support/rpc.ts'
import { runFloor } from './floor.ts'
import { runRelays } from './relays.ts'

export interface ThroughputOptions {
  readonly inFlight: readonly number[]
  readonly calls: number
  readonly rounds: number
  /** A PostgreSQL database for each server; absent: the embedded one. */
  readonly createDatabase?: () => Promise<string>
}

/** The aim is set for so many in flight. */
const AIM_IN_FLIGHT = 20
const FLOOR_SHARE = 0.8

/** What runs on one pair of chains. */
interface Course {
  readonly warmUp: number
  /** The most calls with one number in flight. */
  readonly calls: number
  /** Whether all rounds, and the next numbers in flight, follow on the same chains. */
  readonly continues: boolean
}

/**
 * It takes some thousand calls until V8 has compiled a server for good. anvil's blocks take longer with each one, and
 * after some 1,000 it may stand still.
 */
const courses: Readonly<Record<NodeKind, Course>> = {
  hardhat: { warmUp: 5_000, calls: Infinity, continues: true },
  anvil: { warmUp: 600, calls: 600, continues: false },
}
const WARM_UP_WORKERS = 20
const SETTLED_WITHIN_MS = 60_000

/** What a round came to, with one number in flight. */
interface Round {
  readonly workers: number
  readonly floor: LoadResult
  readonly relays: LoadResult
}

/**
 * Relays per second through `POST /execute`, beside the floor. Both ask the node by WebSocket, which takes half of what
 * HTTP does. Both are timed until all is mined: anvil answers before it mines, and falls behind. Each has a chain of its
 * own and does as much on it, since a block costs a node more the more its state holds.
 *
 * They take turns of a few seconds: a machine that others share may be twice as fast a minute later.
 */
export async function measureThroughput(kind: NodeKind, options: ThroughputOptions): Promise<Aim[]> {
  const { inFlight, rounds } = options
  const all = inFlight.flatMap((workers) => Array<number>(rounds).fill(workers))
  const results: Round[] = []
  for (const stretch of courses[kind].continues ? [all] : all.map((workers) => [workers])) {
    results.push(...(await measureOnNewChains(kind, stretch, options)))
  }
  return inFlight.flatMap((workers) =>
    report(
      kind,
      options,
      workers,
      results.filter((round) => round.workers === workers),
    ),
  )
}

/** @param inFlight of each round */
async function measureOnNewChains(
  kind: NodeKind,
  inFlight: readonly number[],
  { calls, createDatabase }: ThroughputOptions,
): Promise<Round[]> {
  const course = courses[kind]
  const started: Started[] = []
  const start = async (starting: Promise<Started>) => {
    const one = await starting
    started.unshift(one)
    return one.url
  }
  try {
    const floor = await provisionWorld(await start(startNode(kind)))
    const world = await provisionWorld(await start(startNode(kind)))
    const databaseUrl = await createDatabase?.()
    const url = await start(
      startServerProcess({
        rpcUrl: byWebSocket(world.rpcUrl),
        signerKeys: world.signerKeys,
        ...(databaseUrl !== undefined && { databaseUrl }),
      }),
    )
    let loads = 0n
    const measure = async (workers: number, tasks: number): Promise<Round> => {
      const load = { workers, tasks, firstChannel: ++loads * 1_000_000n }
      const round = { workers, floor: await runFloor(floor, load), relays: await runRelays(world, url, load) }
      // What is left to do would take its time from the floor.
      await waitUntilSettled(url, SETTLED_WITHIN_MS)
      return round
    }
    await measure(WARM_UP_WORKERS, course.warmUp)
    const rounds: Round[] = []
    for (const workers of inFlight) {
      // Alone a call takes several times as long.
      rounds.push(await measure(workers, Math.ceil(Math.min(calls, course.calls) / (workers === 1 ? 4 : 1))))
    }
    return rounds
  } finally {
    for (const one of started) await one.close()
  }
}

function report(
  kind: NodeKind,
  { createDatabase }: ThroughputOptions,
  workers: number,
  rounds: readonly Round[],
): Aim[] {
  const database = createDatabase ? 'PostgreSQL' : 'PGlite'
  const share = median(rounds.map(({ floor, relays }) => relays.perSecond / floor.perSecond))
  const failed = rounds.reduce((sum, { floor, relays }) => sum + floor.failed + relays.failed, 0)
  console.log(row([kind, database, workers], rounds, share, failed))
  for (const { floor, relays } of rounds) {
    for (const [reason, count] of Object.entries({ ...floor.failures, ...relays.failures }).slice(0, 3)) {
      console.log(`  ${count} x ${reason.slice(0, 160)}`)
    }
  }
  const name = `${kind}, ${database}, ${workers} in flight`
  return [
    ...(workers === AIM_IN_FLIGHT ? [{ name: `${name}: of the floor`, value: share, atLeast: FLOOR_SHARE }] : []),
    { name: `${name}: calls that failed`, value: failed, atMost: 0 },
  ]
}

export const tableHead = `| node | database | in flight | floor/s | relays/s | of the floor | p50 ms | p99 ms | failed |
|---|---|---|---|---|---|---|---|---|`

function row(of: readonly (string | number)[], rounds: readonly Round[], share: number, failed: number): string {
  const middle = (figure: (round: Round) => number) => median(rounds.map(figure))
  const cells = [
    ...of,
    middle(({ floor }) => floor.perSecond).toFixed(0),
    middle(({ relays }) => relays.perSecond).toFixed(0),
    share.toFixed(2),
    middle(({ relays }) => relays.p50Ms).toFixed(1),
    middle(({ relays }) => relays.p99Ms).toFixed(1),
    failed,
  ]
  return `| ${cells.join(' | ')} |`
}
