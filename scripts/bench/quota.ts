import { parseArgs } from 'node:util'
import { signQuota } from '../../contracts/lsp25.ts'
import { judgeAims, type Aim, median } from './support/figures.ts'
import { numberOf } from '../parse-command.ts'
import { runLoad, type LoadResult } from './support/load.ts'
import { startNode, startScript, startServerProcess } from '../../testbed/processes.ts'
import { createPoster, provisionWorld, type RelayWorld } from '../../testbed/relay-world.ts'

const usage = `Usage: touchstone bench quota [--in-flight 100] [--rounds 3] [--requests 20000]

Requests per second through POST /quota, with the permission read from the chain and the account from the ledger,
beside the floor of the same run: a Koa route that recovers the signer with ethers, and does nothing else.
`

/** The floor is slow, so a tenth of the requests is enough to measure it. */
const FLOOR_SHARE = 10

/**
 * The benchmark `quota`.
 *
 * @returns the exit code: 0 the aim is met, 1 it is missed, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      'in-flight': { type: 'string', default: '100' },
      rounds: { type: 'string', default: '3' },
      requests: { type: 'string', default: '20000' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const [workers, rounds, tasks] = [
    numberOf(values, 'in-flight'),
    numberOf(values, 'rounds'),
    numberOf(values, 'requests'),
  ]
  const ratios: number[] = []
  let failed = 0
  const node = await startNode('hardhat')
  try {
    const world = await provisionWorld(node.url)
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: world.signerKeys })
    const floor = await startScript('scripts/bench/support/floor', ['quota'])
    try {
      console.log('| round | in flight | floor/s | quotas/s | times the floor | p50 ms | p99 ms | failed |')
      console.log('|---|---|---|---|---|---|---|---|')
      // The first round warms up both, the relay and the floor.
      for (let round = 0; round <= rounds; round++) {
        const slow = await measure(world, `${floor.url}/`, { workers, tasks: Math.ceil(tasks / FLOOR_SHARE) })
        const quick = await measure(world, `${server.url}/quota`, { workers, tasks })
        failed += slow.failed + quick.failed
        if (round === 0) continue
        ratios.push(quick.perSecond / slow.perSecond)
        console.log(row(round, workers, slow, quick))
        for (const [reason, count] of Object.entries({ ...slow.failures, ...quick.failures }).slice(0, 3)) {
          console.log(`  ${count} x ${reason.slice(0, 160)}`)
        }
      }
    } finally {
      await floor.close()
      await server.close()
    }
  } finally {
    await node.close()
  }
  const aims: Aim[] = [
    { name: "times the requests of ethers' own recovery, median", value: median(ratios), atLeast: 10 },
    { name: 'requests that failed', value: failed, atMost: 0 },
  ]
  return judgeAims(aims)
}

/** A timestamp is valid for 5 seconds before and after. */
const AHEAD_SECONDS = 3

async function measure(
  { fixture }: RelayWorld,
  url: string,
  load: { readonly workers: number; readonly tasks: number },
): Promise<LoadResult> {
  const { origin, pathname } = new URL(url)
  const poster = createPoster(origin, load.workers)
  const { address } = fixture.profile
  // A few different bodies per second are enough: the server verifies each request, and remembers none.
  const bodies = new Map<number, string>()
  const bodyAt = (timestampSeconds: number) => {
    let body = bodies.get(timestampSeconds)
    if (body === undefined) {
      const signature = signQuota({ address, timestampSeconds }, fixture.controllers.full.privateKey)
      bodies.set(timestampSeconds, (body = JSON.stringify({ address, timestamp: timestampSeconds, signature })))
    }
    return body
  }
  const result = await runLoad(load, async (worker) => {
    const nowSeconds = Math.floor(Date.now() / 1000)
    const { status, json } = await poster.post(pathname, bodyAt(nowSeconds + (worker % AHEAD_SECONDS)))
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`)
  })
  await poster.close()
  return result
}

function row(round: number, workers: number, floor: LoadResult, quotas: LoadResult): string {
  const cells = [
    round,
    workers,
    floor.perSecond.toFixed(0),
    quotas.perSecond.toFixed(0),
    (quotas.perSecond / floor.perSecond).toFixed(1),
    quotas.p50Ms.toFixed(1),
    quotas.p99Ms.toFixed(1),
    quotas.failed,
  ]
  return `| ${cells.join(' | ')} |`
}
