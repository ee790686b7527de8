import { parseArgs } from 'node:util'
import { judgeAims, type Aim } from './support/figures.ts'
import { choicesIn, numberOf } from '../parse-command.ts'
import { measureBatches, measureBodies } from './eth-rpc/memory.ts'
import { measureLoad, measureWorkers } from './eth-rpc/load.ts'
import { seedLogWorld, measureWalk } from './eth-rpc/walk.ts'
import { startNode, startServerProcess } from '../../testbed/processes.ts'
import { testKey } from '../../testbed/relay-world.ts'

const usage = `Usage: touchstone bench eth-rpc [--only load,walk,bodies,batches,workers] [--seconds 2] [--rounds 5]
                         [--connections 20] [--bodies 20000] [--seed <number>]

load     requests/s and p99 of four methods through POST /api/eth-rpc, beside Hardhat, anvil and a bare Koa route
walk     100,000 logs in 1,000 blocks: logs fetched over logs delivered, and the time beside that of a tenth
bodies   generated bodies: no 5xx, no crash, memory flat
batches  64 batches of 100 in flight: memory, and how long a single caller waits
workers  what two workers answer beside one process, for the CPU of the busiest
`

/**
 * The benchmark `eth-rpc`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: 'load,walk,bodies,batches,workers' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '20' },
      bodies: { type: 'string', default: '20000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const parts = choicesIn('--only', values.only, ['load', 'walk', 'bodies', 'batches', 'workers'])
  const [seconds, rounds, connections] = [
    numberOf(values, 'seconds'),
    numberOf(values, 'rounds'),
    numberOf(values, 'connections'),
  ]
  const aims: Aim[] = []
  if (parts.includes('load')) aims.push(...(await measureLoad({ seconds, rounds, connections })))
  if (parts.includes('workers')) aims.push(...(await measureWorkers({ seconds, rounds, connections })))
  if (parts.some((part) => part !== 'load' && part !== 'workers')) {
    aims.push(
      ...(await measureOnLogs(parts, { rounds, bodies: numberOf(values, 'bodies'), seed: numberOf(values, 'seed') })),
    )
  }
  return judgeAims(aims)
}

/** The parts that need a chain with many logs. */
async function measureOnLogs(
  parts: readonly string[],
  { rounds, bodies, seed }: { readonly rounds: number; readonly bodies: number; readonly seed: number },
): Promise<Aim[]> {
  const node = await startNode('hardhat')
  try {
    const world = await seedLogWorld(node.url)
    const aims = parts.includes('walk') ? await measureWalk(node.url, world, rounds) : []
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: [testKey(16)] })
    try {
      if (parts.includes('bodies')) aims.push(...(await measureBodies(server, bodies, seed)))
      if (parts.includes('batches')) aims.push(...(await measureBatches(server, world)))
    } finally {
      await server.close()
    }
    return aims
  } finally {
    await node.close()
  }
}
