import { Command, InvalidArgumentError } from 'commander'
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { UsageError } from '../conformance/lib/outcome.ts'
import { plantedFaults } from '../testbed/simulation/planted.ts'
import { seedsFrom, simulate, type Found } from '../testbed/simulation/simulate.ts'
import { parseCommand } from './parse-command.ts'
import { callLife } from '../server/services/ledger/lifecycle.ts'

interface Options {
  readonly seeds: number
  readonly from?: number
  readonly seed?: number
  readonly trace?: boolean
  readonly workers: number
  readonly planted?: string
}

const MOST_SEEDS = 1_000_000_000

function parseSeed(text: string): number {
  const seed = Number(text)
  if (!/^\d+$/.test(text) || seed > MOST_SEEDS) throw new InvalidArgumentError('a seed is a number from 0 to 10^9.')
  return seed
}

/** The first seed of a day. Each day has other seeds, so that many are tried in a year. */
export const seedOfDay = (nowMs: number) => Math.floor(nowMs / 86_400_000) * 1_000

/**
 * The command `simulate`: relayer, ledger and follower on a virtual clock, in front of nodes, a database and callers that
 * fail as a seed decides.
 *
 * @returns 0 every promise was kept, 1 one was broken
 * @throws UsageError
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone simulate')
    .description(
      'Simulates relayer, ledger and follower: each seed is a run with faults of its own, the same each time.',
    )
    .option('--seeds <number>', 'how many', parseSeed, 100)
    .option('--from <seed>', 'the first one; default: another one each day', parseSeed)
    .option('--seed <seed>', 'this one alone', parseSeed)
    .option('--trace', 'with --seed: prints everything that happens', false)
    .option('--workers <number>', 'processes', parseSeed, availableParallelism())
    .option('--planted <id>', `plants a fault in the code, which is to be found; 'all' for each`)
  const done = parseCommand(command, argv)
  if (done !== undefined) return done
  const options = command.opts<Options>()
  if (options.workers < 1) throw new UsageError('--workers: at least one')
  if (options.trace && options.seed === undefined) throw new UsageError('--trace: of which seed? Add --seed')
  const { planted } = options
  if (planted === 'all') return findPlanted(options)
  if (planted !== undefined && !plantedFaults.some(({ id }) => id === planted)) {
    throw new UsageError(
      `--planted: there is no fault '${planted}'; there are ${plantedFaults.map(({ id }) => id).join(', ')}`,
    )
  }
  return runSeeds(options)
}

async function runSeeds(options: Options): Promise<number> {
  const { seeds, seed, trace = false, workers, planted } = options
  const first = seed ?? options.from ?? seedOfDay(Date.now())
  const count = seed === undefined ? seeds : 1
  const begunMs = performance.now()
  const broken: Found[] = []
  const coverage = createCoverage()
  let [done, accepted, bundles, copies, virtualMs, cpuMs] = [0, 0, 0, 0, 0, 0]
  await simulate({
    seeds: seedsFrom(first, count),
    workers: Math.min(workers, count),
    ...(planted !== undefined && { planted }),
    isTraced: trace,
    isShrunk: true,
    onFound: (found) => {
      done++
      accepted += found.accepted
      bundles += found.bundles
      copies += found.copies
      virtualMs += found.virtualMs
      cpuMs += found.cpuMs
      coverage.add(found.transitions)
      if (found.story !== undefined) print(found.story)
      if (found.faults.length > 0) {
        broken.push(found)
        print(`  again: npm run simulate -- --seed ${found.seed} --trace\n`)
      }
    },
  })
  const seconds = (performance.now() - begunMs) / 1000
  print(
    `${done} seeds from ${first}: ${broken.length} broken, ${accepted} calls accepted, ${bundles} bundles, ${copies} copies, ` +
      `${(virtualMs / 3_600_000).toFixed(1)} simulated hours in ${seconds.toFixed(1)} s ` +
      `(${(cpuMs / Math.max(1, done)).toFixed(0)} ms of CPU a seed)`,
  )
  print(coverage.told())
  if (count === 1 && broken.length === 0) print('every promise was kept')
  return broken.length === 0 ? 0 : 1
}

/** Plants one fault after the other, and tries seeds until the simulation finds it. */
async function findPlanted({ seeds, from = 1, workers }: Options): Promise<number> {
  let missed = 0
  for (const { id, mistake, edits } of plantedFaults) {
    let found: Found | undefined
    await simulate({
      seeds: seedsFrom(from, seeds),
      workers,
      planted: id,
      onFound: (one) => {
        if (one.faults.length > 0 && (found === undefined || one.seed < found.seed)) found = one
        return one.faults.length > 0
      },
    })
    const where = [...new Set(edits.map(({ file }) => file))].join(', ')
    if (!found) missed++
    const how = found
      ? `seed ${found.seed}, after ${found.seed - from + 1}: ${found.faults[0]}`
      : `not within ${seeds} seeds`
    print(`${id} (${where})\n  ${mistake}\n  ${how}`)
  }
  print(`${plantedFaults.length - missed} of ${plantedFaults.length} planted faults are found`)
  return missed === 0 ? 0 : 1
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Counts how often each possible transition of a relay call was seen. */
function createCoverage() {
  const seen = new Map(callLife.map(({ from, event }) => [`${from} > ${event}`, 0]))
  return {
    add: (transitions: Readonly<Record<string, number>>) => {
      for (const [name, times] of Object.entries(transitions)) seen.set(name, (seen.get(name) ?? 0) + times)
    },
    /** A line for each, the most frequent first, and one that counts them. */
    told: (): string => {
      const rows = [...seen].toSorted(([, one], [, other]) => other - one)
      const found = rows.filter(([, times]) => times > 0).length
      const lines = rows.map(([name, times]) => `  ${String(times).padStart(7)}  ${name}`)
      return [...lines, `${found} of ${seen.size} transitions of a relay call were seen`].join('\n')
    },
  }
}
