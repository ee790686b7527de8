import { readFile } from 'node:fs/promises'
import { startPostgres } from '../../../testbed/postgres.ts'
import { startNode, startServerProcess, type Started } from '../../../testbed/processes.ts'
import { testKey, rpcBody } from '../../../testbed/relay-world.ts'
import type { Aim } from '../support/aim.ts'
import { fire } from '../support/autocannon.ts'
import { median } from '../support/statistics.ts'
import type { LoadOptions } from './load.ts'

const WORKERS = 2
const RATIO = 1.6
const METHODS = ['eth_chainId', 'eth_blockNumber']

/**
 * What two workers answer beside one process, each with the same number of callers: requests for a second of CPU of that
 * process which is busiest. So it is the rate on a machine where each has a core of its own, and node, database and load
 * generator have others.
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
