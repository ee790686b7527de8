import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import type { Alteration, Lawful, Mutant, ServerEnvironment } from '../conformance/altered/define.ts'
import { loadLawful, loadMutants, type NamedLawful, type NamedMutant } from '../conformance/altered/load.ts'
import { serveAlteration } from '../conformance/altered/serve.ts'
import { parsePositiveInteger } from '../conformance/lib/options.ts'
import { allClauses } from '../conformance/lib/verdict.ts'
import { type ClauseId, clauses } from '../specs/index.ts'
import { exitOnSignals, temporaryFolder } from '../testbed/at-exit.ts'
import { parseCommand } from './parse-command.ts'
import { selfSigned, type SelfSigned } from './prove/certificate.ts'
import { type Extensions, extensionsOf, unproved } from './prove/extensions.ts'
import { judgeLawful, judgeMutant, type LawfulResult, type MutantResult, matrix } from './prove/judge.ts'
import { createSuiteRunners, type SuiteRun, type SuiteRunners } from './prove/run-suite.ts'
import { createTestbeds, testbedKey, type Testbeds } from './prove/testbeds.ts'

interface Flags {
  readonly only?: string
  readonly suite: readonly string[]
  readonly full?: true
  readonly lawful: boolean
  readonly mutants: boolean
  readonly jobs: number
  readonly out: string
}

/** Options that all runs share. */
interface Workshop {
  readonly testbeds: Testbeds
  readonly tls: SelfSigned
  readonly runners: SuiteRunners
  /** The suites of others that are proved; undefined: the suite of the documents is. */
  readonly extensions: Extensions | undefined
}

/** How long a run waits for an alteration that says that it executes late. */
const quickOptions = ['--linger-ms', '0']

/** How long a run waits for what a mutant never answers or never sends. All processes run on this machine. */
const mutantOptions = ['--timeout-ms', '10000', '--receipt-timeout-ms', '2000']
/** A longer wait, so that no server is accused because this machine is busy. */
const lawfulOptions = ['--timeout-ms', '30000']

/** Options for a mutant that only random requests find. */
const fuzzOptions = ['--fuzz', '60', '--seed', '1']

/** An alteration that changes nothing. If it is caught, the harness would catch any server. */
const controlOf = (clause: string): NamedMutant => ({
  name: 'control',
  path: '',
  mutant: { clause, fault: 'none' },
})

/** Works through the items, so many at a time. The results are in the order of the items. */
async function inParallel<T, R>(items: readonly T[], jobs: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  return results
}

/** Serves one alteration in its environment and runs the suite against it. */
async function runAltered(
  { testbeds, tls, runners, extensions }: Workshop,
  { environment = {}, ...alteration }: Alteration & { readonly environment?: ServerEnvironment },
  { only, options = [] }: { readonly only?: string; readonly options?: readonly string[] },
): Promise<{ readonly run: SuiteRun; readonly broken: readonly unknown[] }> {
  const { listen, options: further = [] } = environment
  return testbeds.use(environment, async ({ relayUrl, fixture, fixtureFile }) => {
    const broken: unknown[] = []
    const served = await serveAlteration(
      alteration,
      { serverUrl: relayUrl, fixture, tls, ...(listen && { listen }) },
      (error) => broken.push(error),
    )
    try {
      const run = await runners.run({
        url: served.url,
        fixtureFile,
        options: [...quickOptions, ...(extensions?.options ?? []), ...options, ...further],
        ...(only !== undefined && { only }),
      })
      return { run, broken }
    } finally {
      await served.close()
    }
  })
}

function needsFuzz({ clause }: Pick<Mutant<string>, 'clause'>): boolean {
  return Object.hasOwn(clauses, clause) && clauses[clause as ClauseId].needs.includes('fuzz')
}

async function proveMutant(workshop: Workshop, named: NamedMutant, full: boolean): Promise<MutantResult> {
  const { clause, whole } = named.mutant
  const all = workshop.extensions && !full ? { only: workshop.extensions.only } : {}
  const part = full || whole ? all : { only: clause }
  const isFuzz = needsFuzz(named.mutant)
  const options = isFuzz ? [...mutantOptions, ...fuzzOptions] : mutantOptions
  const { run, broken } = await runAltered(workshop, named.mutant, { ...part, options })
  const result = judgeMutant(named, run, broken)
  if (!isFuzz || !result.caught) return result
  // Random requests are tried only where the fixed ones find nothing.
  const fixed = await runAltered(workshop, named.mutant, {})
  const failed = fixed.run.report.clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
  if (failed.length === 0) return result
  return { ...result, caught: false, why: `the fixed checks catch it too: ${failed.join(', ')}` }
}

/** The document that the alteration is about. The endpoints of the other document are the reference server's own. */
function documentOf({ every, execute, quota, rpc, environment }: Lawful<string>): 'relay' | 'eth-rpc' | undefined {
  if (every !== undefined || environment !== undefined) return undefined
  const isOfRelay = execute !== undefined || quota !== undefined
  if (isOfRelay === (rpc !== undefined)) return undefined
  return isOfRelay ? 'relay' : 'eth-rpc'
}

async function proveLawful(workshop: Workshop, named: NamedLawful, full: boolean): Promise<LawfulResult> {
  const { clauses, allowedBy } = named.lawful
  const only = full ? undefined : (workshop.extensions?.only ?? documentOf(named.lawful))
  try {
    const part = only === undefined ? {} : { only }
    const { run, broken } = await runAltered(workshop, named.lawful, { ...part, options: lawfulOptions })
    return judgeLawful(named, run, broken)
  } catch (error) {
    // The run has judged nothing, which counts as an accusation.
    const why = error instanceof Error ? error.message : String(error)
    return { name: named.name, clauses, allowedBy, spared: false, why, accusations: [], durationMs: 0 }
  }
}

/** Clauses that need random requests are judged only in runs with random requests. */
function optionsOf(only: string): readonly string[] {
  const meant = Object.entries(clauses).filter(([id]) => id.startsWith(only.replace(/--.*/, '')))
  return meant.every(([, { needs }]) => needs.includes('fuzz')) ? fuzzOptions : []
}

/**
 * @returns what is wrong with the harness itself: the unaltered server fails, or an alteration that changes nothing is
 * caught
 */
async function proveHarness(workshop: Workshop, only: string | undefined): Promise<string[]> {
  const { extensions } = workshop
  if (extensions) {
    const control = controlOf(Object.keys(extensions.clauses)[0] ?? '')
    return proveOn(workshop, { environment: extensions.environment }, control, { only: extensions.only })
  }
  // The name of a mutant begins with its clause. Every clause that --only names is tried.
  const isOne = only !== undefined && !only.includes(',')
  const part = isOne ? { only: only.replace(/--.*/, ''), options: optionsOf(only) } : {}
  return proveOn(workshop, {}, controlOf('relay.quota.unit'), part)
}

async function proveOn(
  workshop: Workshop,
  unaltered: { readonly environment?: ServerEnvironment },
  control: NamedMutant,
  part: { readonly only?: string; readonly options?: readonly string[] },
): Promise<string[]> {
  const { run } = await runAltered(workshop, unaltered, part)
  const unbroken = allClauses(run.report)
    .filter(({ level, status }) => level !== 'unspecified' && status !== 'passed')
    .map(({ id, status }) => `the unbroken server: ${id} is ${status}`)
  const { run: controlled, broken } = await runAltered(workshop, { ...control.mutant, ...unaltered }, part)
  const { caught, others } = judgeMutant(control, controlled, broken)
  const accused = caught || others.length > 0
  return [...unbroken, ...(accused ? [`the control, which breaks nothing, was caught by ${others.join(', ')}`] : [])]
}

interface Selection {
  readonly mutants: readonly NamedMutant[]
  readonly lawful: readonly NamedLawful[]
}

/** The parts of `--only`; undefined: everything is meant. */
const partsOf = ({ only }: Pick<Flags, 'only'>) => only?.split(',')

const isMutant = ({ name }: NamedMutant, part: string): boolean => name.startsWith(part)

const isLawful = ({ lawful: { id, clauses } }: NamedLawful, part: string): boolean =>
  id === part || clauses.some((clause) => clause.startsWith(part))

/** What `--only` means: mutants and lawful servers of the clauses that begin so, or one lawful server by its id. */
async function select(flags: Flags, extensions: Extensions | undefined): Promise<Selection> {
  const parts = partsOf(flags)
  const isMeant = <Named>(named: Named, isNamed: (named: Named, part: string) => boolean): boolean =>
    parts?.some((part) => isNamed(named, part)) ?? true
  // Alterations that share a testbed run one after the other, so that few testbeds are up at a time; the usual one
  // first.
  const keyOf = ({ lawful }: NamedLawful): string => testbedKey(lawful.environment ?? {})
  const inOrder = (a: string, b: string): number => a.length - b.length || a.localeCompare(b)
  const mutants = flags.mutants ? (extensions?.mutants ?? (await loadMutants())) : []
  const lawful = flags.lawful ? (extensions?.lawful ?? (await loadLawful())) : []
  return {
    mutants: mutants.filter((named) => isMeant(named, isMutant)),
    lawful: lawful.filter((named) => isMeant(named, isLawful)).sort((a, b) => inOrder(keyOf(a), keyOf(b))),
  }
}

function createCommand(): Command {
  return new Command('touchstone prove')
    .description(
      'Proves the suite: each mutant of the reference server is caught by its own clause, each lawful server is spared.',
    )
    .option('--only <name>', 'a clause id, or what it begins with; or the id of a lawful server; several with commas')
    .option(
      '--suite <package>',
      'prove a suite of somebody else instead: a package, or a path that begins with . or /; repeatable',
      (source: string, before: readonly string[]) => [...before, source],
      [],
    )
    .option(
      '--full',
      'run the whole suite against each server: not only the own clause of a mutant, and the document of a lawful one',
    )
    .option('--no-mutants', 'leave the mutants out')
    .option('--no-lawful', 'leave the lawful servers out')
    .option('--jobs <count>', 'at a time', parsePositiveInteger, availableParallelism() + 1)
    .option('--out <file>', 'where the matrix is written, as JSON', '.touchstone/prove.json')
}

function tell(isRight: boolean, name: string, durationMs: number): void {
  process.stdout.write(`${isRight ? '✓' : '✗'} ${name} (${(durationMs / 1000).toFixed(1)} s)\n`)
}

/** All selected alterations, mutants first. */
async function proveAll(
  workshop: Workshop,
  { mutants, lawful }: Selection,
  { only, full = false, jobs }: Omit<Flags, 'full'> & { readonly full?: boolean },
): Promise<{ faults: string[]; mutants: MutantResult[]; lawful: LawfulResult[] }> {
  const { extensions } = workshop
  const faults = [
    ...(mutants.length > 0 || extensions ? await proveHarness(workshop, only) : []),
    ...(extensions && only === undefined ? unproved(extensions) : []),
  ]
  const caught = await inParallel(mutants, jobs, async (named) => {
    const result = await proveMutant(workshop, named, full)
    tell(result.caught, result.name, result.durationMs)
    if (result.why !== undefined) process.stdout.write(`  ${result.why}\n`)
    return result
  })
  const spared = await inParallel(lawful, jobs, async (named) => {
    const result = await proveLawful(workshop, named, full)
    tell(result.spared, result.name, result.durationMs)
    for (const { clause, status, message } of result.accusations) {
      process.stdout.write(`  ${clause} is ${status}: ${message}\n`)
    }
    if (result.why !== undefined) process.stdout.write(`  ${result.why}\n`)
    return result
  })
  return { faults, mutants: caught, lawful: spared }
}

/** The last lines, and whether all is as it should be. */
function summarise(
  { faults, mutants, lawful }: Awaited<ReturnType<typeof proveAll>>,
  seconds: number,
  out: string,
): boolean {
  for (const fault of faults) process.stdout.write(`✗ ${fault}\n`)
  const caught = mutants.filter((result) => result.caught).length
  const spared = lawful.filter((result) => result.spared).length
  const parts = [
    ...(mutants.length > 0 ? [`${caught} of ${mutants.length} mutants caught by their clause`] : []),
    ...(lawful.length > 0 ? [`${spared} of ${lawful.length} lawful servers spared`] : []),
  ]
  process.stdout.write(`${parts.join(', ')}, in ${seconds} s (${out})\n`)
  return faults.length === 0 && caught === mutants.length && spared === lawful.length
}

/**
 * The command `prove`: the suite against the reference server with one deliberate fault after another, and with one
 * lawful difference after another.
 *
 * @returns the exit code: 0 every mutant is caught by its own clause, and no lawful server is accused; 1 not so, 2 usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = createCommand()
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const flags = command.opts<Flags>()
  const extensions = await extensionsOf(flags.suite)
  const selection = await select(flags, extensions)
  const isNamed = (part: string): boolean =>
    selection.mutants.some((named) => isMutant(named, part)) || selection.lawful.some((named) => isLawful(named, part))
  const nameless = partsOf(flags)?.find((part) => !isNamed(part))
  if (nameless !== undefined) {
    process.stderr.write(`nothing is named ${nameless}\n`)
    return 2
  }
  const all = [...selection.mutants.map(({ mutant }) => mutant), ...selection.lawful.map(({ lawful }) => lawful)]
  if (all.length === 0 && !extensions) {
    process.stderr.write('there is nothing to prove\n')
    return 2
  }

  const start = performance.now()
  exitOnSignals()
  const folder = temporaryFolder('prove')
  const certificateFile = join(folder.path, 'certificate.pem')
  const tls = selfSigned()
  await writeFile(certificateFile, tls.cert)
  // The harness is proved twice on the usual testbed. Mutants that random requests find are tried with the fixed ones,
  // too.
  const twice = selection.mutants.map(({ mutant }) => mutant).filter(needsFuzz)
  const uses = [
    ...(extensions ? [extensions.environment, extensions.environment] : selection.mutants.length > 0 ? [{}, {}] : []),
    ...[...all, ...twice].map(({ environment = {} }) => environment),
  ]
  const testbeds = createTestbeds(uses)
  const runners = createSuiteRunners(certificateFile)
  try {
    const results = await proveAll({ testbeds, tls, runners, extensions }, selection, flags)
    const seconds = Math.round((performance.now() - start) / 100) / 10
    await mkdir(dirname(flags.out), { recursive: true })
    await writeFile(flags.out, `${JSON.stringify({ seconds, ...results }, null, 2)}\n`)
    process.stdout.write(`\n${matrix(results.mutants, results.lawful, extensions?.clauses)}\n`)
    return summarise(results, seconds, flags.out) ? 0 : 1
  } finally {
    runners.close()
    await testbeds.close()
    folder.remove()
  }
}
