import { parseArgs } from 'node:util'
import { spawnSync } from 'node:child_process'
import { measureBlocks, measureThroughput, tableHead } from './execute/throughput.ts'
import { measureBundleGas, measurePoison } from './execute/bundles.ts'
import { measureGrowth } from './execute/growth.ts'
import { judgeAims, type Aim } from './support/figures.ts'
import { choicesIn, numberOf } from '../parse-command.ts'
import { databaseKinds, startPostgres } from '../../testbed/postgres.ts'
import { nodeKinds } from '../../testbed/processes.ts'

const usage = `Usage: touchstone bench execute [--only throughput,blocks,growth,bundles] [--node hardhat,anvil] [--rounds 3]
                         [--database pglite,postgresql] [--in-flight 1,20,100] [--calls 1500] [--share-cores]
                         [--past-relays 100000] [--profiles 1] [--signers 2]

throughput  relays per second through POST /execute, beside the floor of the same run: one eth_call and one
            eth_sendRawTransaction per relay, straight to such a node, nothing else; each until all is mined; the
            nodes have a core for themselves, where taskset (util-linux) is there and a second core; --share-cores:
            node, server, database and callers share all cores
blocks      a block per second: 1,000 calls on 100 channels without waiting for blocks, none refused
growth      cost per relay with so many settled relays of so many profiles in the ledger, over that in an empty one;
            both servers have so many signers
bundles     the same throughput where calls share transactions, 100 in flight, beside the floor that sends each alone; the
            gas of a call with nine others; one call in ten that reverts in the block, a block per second
`

const parts = ['throughput', 'blocks', 'growth', 'bundles'] as const

/**
 * The benchmark `execute`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: parts.join() },
      node: { type: 'string', default: 'hardhat,anvil' },
      database: { type: 'string', default: 'pglite,postgresql' },
      'in-flight': { type: 'string', default: '1,20,100' },
      calls: { type: 'string', default: '1500' },
      rounds: { type: 'string', default: '3' },
      'past-relays': { type: 'string', default: '100000' },
      profiles: { type: 'string', default: '1' },
      signers: { type: 'string', default: '2' },
      'share-cores': { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const chosen = choicesIn('--only', values.only, parts)
  const databases = choicesIn('--database', values.database, databaseKinds)
  const kinds = choicesIn('--node', values.node, nodeKinds)
  const [calls, rounds] = [numberOf(values, 'calls'), numberOf(values, 'rounds')]
  const inFlight = values['in-flight'].split(',').map((text) => numberOf({ 'in-flight': text }, 'in-flight'))
  const aims: Aim[] = []
  const postgres =
    databases.includes('postgresql') && chosen.some((part) => part !== 'blocks') ? await startPostgres() : undefined
  const createDatabase = postgres && (() => postgres.createDatabase())
  try {
    if (chosen.includes('throughput') || chosen.includes('bundles')) {
      // A node gets a core for itself, as it has on a machine of its own.
      const reserved = values['share-cores'] ? undefined : reserveCore()
      console.log(
        reserved
          ? `nodes on core ${reserved.number}, all else on the others\n`
          : 'nodes and all else share the cores\n',
      )
      console.log(tableHead)
      try {
        const shared = { calls, rounds, core: reserved?.number }
        const loads = [
          ...(chosen.includes('throughput') ? [{ ...shared, inFlight }] : []),
          ...(chosen.includes('bundles') ? [{ ...shared, inFlight: [100], bundles: true }] : []),
        ]
        for (const options of loads) {
          for (const kind of kinds) {
            if (databases.includes('pglite')) aims.push(...(await measureThroughput(kind, options)))
            if (createDatabase) aims.push(...(await measureThroughput(kind, { ...options, createDatabase })))
          }
        }
      } finally {
        reserved?.release()
      }
    }
    if (chosen.includes('bundles')) {
      aims.push(...(await measureBundleGas()))
      for (const kind of kinds) aims.push(...(await measurePoison(kind)))
    }
    if (chosen.includes('blocks')) for (const kind of kinds) aims.push(...(await measureBlocks(kind)))
    if (chosen.includes('growth')) {
      const options = {
        calls,
        rounds,
        pastRelays: numberOf(values, 'past-relays'),
        profiles: numberOf(values, 'profiles'),
        signers: numberOf(values, 'signers'),
      }
      if (databases.includes('pglite')) aims.push(...(await measureGrowth(options)))
      if (createDatabase) aims.push(...(await measureGrowth({ ...options, createDatabase })))
    }
  } finally {
    await postgres?.close()
  }
  return judgeAims(aims)
}

/** A core that is kept free for one process. */
interface ReservedCore {
  readonly number: number
  /** Lets this process use the core again. Processes that it has started meanwhile stay away. */
  release(): void
}

/**
 * Moves this process, and the processes that it starts from now on, away from one core.
 *
 * @returns undefined on a machine with one core or without `taskset` (util-linux)
 */
export function reserveCore(): ReservedCore | undefined {
  const cores = allowedCores()
  const [number, ...others] = cores
  if (number === undefined || others.length === 0 || !taskset(others.join())) return undefined
  return { number, release: () => void taskset(cores.join()) }
}

/** The cores that this process may use, read from a list such as `0,2-3`. */
function allowedCores(): number[] {
  const list = /([\d,-]+)\s*$/.exec(taskset() ?? '')?.[1]
  return (list?.split(',') ?? []).flatMap((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Runs `taskset` for this process.
 *
 * @param list cores to which all threads of this process are moved; absent: none are moved
 * @returns the output; undefined: `taskset` is missing or fails
 */
function taskset(list?: string): string | undefined {
  const options = list === undefined ? ['-cp'] : ['-acp', list]
  const { status, stdout } = spawnSync('taskset', [...options, String(process.pid)], { encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}
