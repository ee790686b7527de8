import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Mutant } from '../conformance/mutants/define.ts'
import { parsePositiveInteger } from '../conformance/lib/positive-integer.ts'
import { loadMutants, type NamedMutant } from '../conformance/mutants/load.ts'
import { serveMutant } from '../conformance/mutants/serve.ts'
import { judge, type MutantResult } from './mutants/judge.ts'
import { matrix } from './mutants/matrix.ts'
import { runSuite } from './mutants/run-suite.ts'
import { startTestbed, type Testbed } from './testbed.ts'

interface Flags {
  readonly only?: string
  readonly full?: true
  readonly jobs: number
  readonly out: string
}

/** Breaks nothing: what says that this one was caught would say so of any. */
const control: NamedMutant = {
  name: 'control',
  mutant: { clause: 'relay.quota.unit', fault: 'none' } satisfies Mutant,
}

/** Works through the items, so many at a time; results in the order of the items. */
async function inParallel<T, R>(items: readonly T[], jobs: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  return results
}

/** Serves one mutant and runs the suite against it: its own clause, or all. */
async function runMutant(testbed: Testbed, named: NamedMutant, only: string | null): Promise<MutantResult> {
  const broken: unknown[] = []
  const server = { serverUrl: testbed.relayUrl, fixture: testbed.fixture }
  const served = await serveMutant(named.mutant, server, (error) => broken.push(error))
  try {
    return judge(named, await runSuite(served.url, testbed.fixtureFile ?? '', only), broken)
  } finally {
    await served.close()
  }
}

/** What is wrong with the harness itself, if anything: the unbroken server fails, or nothing at all is caught. */
async function proveHarness(testbed: Testbed, only: string | null): Promise<string[]> {
  const faults: string[] = []
  const { report } = await runSuite(testbed.relayUrl, testbed.fixtureFile ?? '', only)
  for (const { id, level, status } of report.clauses) {
    if (level !== 'unspecified' && status !== 'passed') faults.push(`the unbroken server: ${id} is ${status}`)
  }
  const { caught, others } = await runMutant(testbed, control, only)
  if (caught || others.length > 0) faults.push(`the control, which breaks nothing, was caught by ${others.join(', ')}`)
  return faults
}

/**
 * The command `mutants`: the suite against the reference server with one deliberate fault after another.
 *
 * @returns the exit code: 0 every mutant is caught by its own clause and the unbroken server by none, 1 not so, 2 usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('mutants')
    .description('Proves the suite: each mutant of the reference server must be caught by its own clause.')
    .option('--only <clause>', 'a clause id, or what it begins with')
    .option('--full', 'run the whole suite against each mutant, not only its own clause')
    .option('--jobs <count>', 'at a time', parsePositiveInteger, availableParallelism() + 1)
    .option('--out <file>', 'where the matrix is written, as JSON', '.touchstone/mutants.json')
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const { only, full, jobs, out } = command.opts<Flags>()
  const mutants = (await loadMutants()).filter(({ mutant }) => mutant.clause.startsWith(only ?? ''))
  if (mutants.length === 0) {
    process.stderr.write(`no mutant is named after ${only}\n`)
    return 2
  }

  const start = performance.now()
  const stateDir = await mkdtemp(join(tmpdir(), 'touchstone-mutants-'))
  const testbed = await startTestbed({ stateDir })
  try {
    const faults = await proveHarness(testbed, only ?? null)
    const results = await inParallel(mutants, jobs, async (named) => {
      const result = await runMutant(testbed, named, full ? null : named.mutant.clause)
      process.stdout.write(`${result.caught ? '✓' : '✗'} ${result.name}\n`)
      return result
    })
    const seconds = Math.round((performance.now() - start) / 100) / 10
    const caught = results.filter((result) => result.caught).length
    await mkdir(dirname(out), { recursive: true })
    await writeFile(out, `${JSON.stringify({ seconds, faults, mutants: results }, null, 2)}\n`)
    process.stdout.write(`\n${matrix(results)}\n`)
    for (const fault of faults) process.stdout.write(`✗ ${fault}\n`)
    process.stdout.write(`${caught} of ${results.length} mutants caught by their clause, in ${seconds} s (${out})\n`)
    return caught === results.length && faults.length === 0 ? 0 : 1
  } finally {
    await testbed.close()
    await rm(stateDir, { recursive: true, force: true })
  }
}
