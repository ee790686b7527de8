import { UsageError } from '../conformance/lib/outcome.ts'
import { exitOnSignals } from '../testbed/at-exit.ts'
import { withPackages } from './needed-packages.ts'

interface Benchmark {
  run(argv: readonly string[]): Promise<number>
}

/** Each benchmark compares with a floor that it measures in the same run. Its module is loaded when it is asked for. */
const benchmarks: Readonly<Record<string, () => Promise<Benchmark>>> = {
  'eth-rpc': () => import('./bench/eth-rpc.ts'),
  execute: () => import('./bench/execute.ts'),
  quota: () => import('./bench/quota.ts'),
  crash: () => import('./bench/crash.ts'),
  connections: () => import('./bench/connections.ts'),
  nodes: () => import('./bench/nodes.ts'),
  stall: () => import('./bench/stall.ts'),
}

const usage = `Usage: touchstone bench [benchmark] [options]

Runs all benchmarks, or one; each is a ratio against its own floor in the same run.

Benchmarks: ${Object.keys(benchmarks).join(', ')}; "bench <benchmark> --help" explains one.
`

/**
 * The command `bench`.
 *
 * @returns the exit code: 0 every aim is met, 1 one is missed
 * @throws UsageError
 */
export async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === '--help' || name === '-h') {
    process.stdout.write(usage)
    return 0
  }
  exitOnSignals()
  if (name === undefined) {
    let worst = 0
    for (const each of Object.values(benchmarks)) worst = Math.max(worst, await (await loaded(each)).run([]))
    return worst
  }
  const load = benchmarks[name]
  if (load === undefined)
    throw new UsageError(`bench: there is no benchmark '${name}': ${Object.keys(benchmarks).join(', ')}`)
  return (await loaded(load)).run(rest)
}

const loaded = (load: () => Promise<Benchmark>) => withPackages('bench', ['server', 'chain'], load)
