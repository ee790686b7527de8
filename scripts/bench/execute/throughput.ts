import type { Aim } from '../support/aim.ts'
import type { LoadResult } from '../support/load.ts'
import type { NodeKind } from '../support/processes.ts'
import { median } from '../support/rpc.ts'
import type { Contestant } from './contestant.ts'
import { openFloor } from './floor.ts'
import { openRelays } from './relays.ts'

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

/** What a round came to, with one number in flight. */
interface Round {
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
  const results = new Map(inFlight.map((workers): [number, Round[]] => [workers, []]))
  if (courses[kind].continues) await measureOnNewChains(kind, inFlight, rounds, options, results)
  else {
    for (const workers of inFlight) {
      for (let round = 0; round < rounds; round++) await measureOnNewChains(kind, [workers], 1, options, results)
    }
  }
  return [...results].flatMap(([workers, found]) => report(kind, options, workers, found))
}

async function measureOnNewChains(
  kind: NodeKind,
  inFlight: readonly number[],
  rounds: number,
  { calls, createDatabase }: ThroughputOptions,
  results: ReadonlyMap<number, Round[]>,
): Promise<void> {
  const course = courses[kind]
  let channels = 0n
  const load = (workers: number, tasks: number) => ({ workers, tasks, firstChannel: ++channels * 1_000_000n })
  const opened: Contestant[] = []
  try {
    const floor = await openFloor(kind)
    opened.push(floor)
    const relays = await openRelays(kind, await createDatabase?.())
    opened.push(relays)
    for (const one of opened) {
      await one.run(load(WARM_UP_WORKERS, course.warmUp))
      await one.rest()
    }
    for (const workers of inFlight) {
      // Alone a call takes several times as long.
      const tasks = Math.ceil(Math.min(calls, course.calls) / (workers === 1 ? 4 : 1))
      for (let round = 0; round < rounds; round++) {
        const next = load(workers, tasks)
        const found = { floor: await floor.run(next), relays: await relays.run(next) }
        await relays.rest()
        results.get(workers)?.push(found)
      }
    }
  } finally {
    for (const one of opened) await one.close()
  }
}

function report(kind: NodeKind, { createDatabase }: ThroughputOptions, workers: number, rounds: Round[]): Aim[] {
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
