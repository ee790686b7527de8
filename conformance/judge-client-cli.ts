import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { packageVersion } from '../specs/index.ts'
import { shellWord, type CheckDependencies } from './cli.ts'
import { type Given, judgeClient } from './clients/judge.ts'
import { provocations, type Step } from './clients/recording.ts'
import { exitCodeOf, readExpectedFailures } from './lib/verdict.ts'
import { type Fixture, readFixture } from './lib/fixture.ts'
import { createTerminalProgress, onInterrupt } from './lib/report/terminal-progress.ts'
import { parseMilliseconds } from './lib/options.ts'
import { editions, type Edition, type Report } from './lib/report-types.ts'
import {
  assertWritable,
  type Output,
  parseOutput,
  type ReportFormat,
  reportFormats,
  reportRenderers,
  writeOutput,
} from './lib/report/files.ts'
import { wantsColour } from './lib/report/terminal.ts'
import { normaliseTarget } from './lib/target.ts'
import { UsageError } from './lib/outcome.ts'

interface Flags {
  readonly relayUrl?: string
  readonly fixture?: string
  readonly provoke: readonly Step[]
  readonly only: readonly string[]
  readonly edition: Edition
  readonly expectedFailures?: string
  readonly timeoutMs: number
  readonly verbose?: true
  readonly quiet?: true
  readonly report: readonly Output<ReportFormat>[]
}

const defaultSteps: readonly Step[] = ['served', ...provocations]
/** How long a command that is told to end may take. */
const endingMs = 2_000

const help = `
The command finds in its environment:
  TOUCHSTONE_RELAY_URL        base URL of POST /execute, /quota and /api/eth-rpc
  TOUCHSTONE_RPC_URL          a node of the chain
  TOUCHSTONE_CHAIN_ID         its id
  TOUCHSTONE_PROFILE          address of the profile
  TOUCHSTONE_KEY_MANAGER      address of its key manager
  TOUCHSTONE_CONTROLLER_KEY   private key of a controller with all permissions
  TOUCHSTONE_FIXTURE          file with all of this, as npm start writes it

Examples:
  touchstone judge-client -- node my-client.mjs
  touchstone judge-client --only client.execute --report html=client.html -- npm run e2e
  touchstone judge-client --provoke none --relay-url https://relay.example --fixture fixture.json -- ./client

Exit codes:
  0  conformant, a part that passed, or failures exactly as expected
  1  a required clause failed, or the list of expected failures is stale
  2  wrong usage, or the client could not be judged
  3  nothing failed, but the client did nothing that a required clause speaks of
`

const append = (text: string, before: readonly string[]): readonly string[] => [...before, text]

const outputs = (text: string, before: readonly Output<ReportFormat>[]): readonly Output<ReportFormat>[] => [
  ...before,
  parseOutput(text, reportFormats),
]

/** @throws InvalidArgumentError */
function parseSteps(text: string): readonly Step[] {
  if (text === 'none') return []
  const known: readonly string[] = defaultSteps
  const steps = text.split(',')
  if (steps.every((step): step is Step => known.includes(step))) return steps
  throw new InvalidArgumentError(`none, or some of ${known.join(', ')}, separated by commas`)
}

function createCommand(): Command {
  return new Command('touchstone judge-client')
    .description('Runs a client against a relay that judges it by the two documents.')
    .argument('<command...>', 'the client and its arguments, behind --')
    .passThroughOptions()
    .option('--relay-url <url>', 'a relay to stand before (default: that of a testbed, which is started)')
    .option('--fixture <file>', 'with --relay-url: the profile and the controllers that the client may use')
    .option('--provoke <steps>', `what is done with each new call in turn`, parseSteps, defaultSteps)
    .option('--only <clause>', 'a clause id, or the beginning of one; repeatable', append, [])
    .addOption(new Option('--edition <name>', 'the edition of the documents').choices(editions).default('documents'))
    .option('--expected-failures <file>', 'a file with the clauses that are known to fail: a list of id, reason, link')
    .option('--timeout-ms <ms>', 'how long the command may take', parseMilliseconds, 120_000)
    .option('--verbose', 'also show the observations')
    .option('--quiet', 'show only failures and the verdict')
    .option('--report <format=file>', `${reportFormats.join(', ')}; "-" is standard output; repeatable`, outputs, [])
    .version(packageVersion())
    .addHelpText('after', help)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll('\n', ' ')}\n`) })
}

interface Where {
  readonly serverUrl: string
  readonly fixture: Fixture
  close?(): Promise<void>
}

/** @throws UsageError */
async function whereOf({ relayUrl, fixture }: Flags, { startTestbed }: CheckDependencies): Promise<Where> {
  if (relayUrl !== undefined) {
    if (fixture === undefined) throw new UsageError('--relay-url needs --fixture: what may the client use there?')
    const { relayUrl: serverUrl } = normaliseTarget({ relayUrl, ethRpcUrl: null })
    return { serverUrl: (serverUrl ?? relayUrl).replace(/\/+$/, ''), fixture: await readFixture(fixture) }
  }
  if (fixture !== undefined) throw new UsageError('--fixture is of a relay: name it with --relay-url')
  if (!startTestbed) throw new UsageError('--relay-url is missing')
  const testbed = await startTestbed({})
  return { serverUrl: testbed.relayUrl, fixture: testbed.fixture, close: () => testbed.close() }
}

function environmentOf({ relayUrl, fixture }: Given, fixtureFile: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    TOUCHSTONE_RELAY_URL: relayUrl,
    TOUCHSTONE_RPC_URL: fixture.chain.rpcUrl,
    TOUCHSTONE_CHAIN_ID: String(fixture.chain.chainId),
    TOUCHSTONE_PROFILE: fixture.profile.address,
    TOUCHSTONE_KEY_MANAGER: fixture.profile.keyManager,
    TOUCHSTONE_CONTROLLER_KEY: fixture.controllers.full.privateKey,
    TOUCHSTONE_FIXTURE: fixtureFile,
  }
}

interface RunOptions {
  readonly timeoutMs: number
  /** Standard output belongs to a report. */
  readonly isQuiet: boolean
  readonly signal: AbortSignal
}

/**
 * Runs a command until it ends.
 *
 * @returns why its end says little; undefined: it ended by itself, with exit code 0
 * @throws UsageError it cannot be started
 */
async function runCommand(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  { timeoutMs, isQuiet, signal }: RunOptions,
): Promise<string | undefined> {
  const child = spawn(file, args, { env, stdio: ['inherit', isQuiet ? 2 : 'inherit', 'inherit'] })
  let why: string | undefined
  let kill: NodeJS.Timeout | undefined
  const end = (reason: string): void => {
    why ??= reason
    child.kill('SIGTERM')
    kill ??= setTimeout(() => child.kill('SIGKILL'), endingMs)
  }
  const timer = setTimeout(() => end(`the command was ended after ${timeoutMs} ms`), timeoutMs)
  const interrupt = (): void => end('the run was interrupted')
  signal.addEventListener('abort', interrupt)
  if (signal.aborted) interrupt()
  try {
    const [code, by] = (await once(child, 'exit')) as [number | null, string | null]
    if (code === 0) return why
    return why ?? (code === null ? `the command was ended by ${by}` : `the command ended with exit code ${code}`)
  } catch (error) {
    throw new UsageError(`${file} cannot be started (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  } finally {
    clearTimeout(timer)
    clearTimeout(kill)
  }
}

async function judge(command: readonly string[], flags: Flags, dependencies: CheckDependencies): Promise<Report> {
  const expected = flags.expectedFailures === undefined ? undefined : await readExpectedFailures(flags.expectedFailures)
  for (const { path: file } of flags.report) await assertWritable(file)
  const isQuiet = flags.report.some((output) => output.path === '-')
  const interrupted = new AbortController()
  const where = await whereOf(flags, dependencies)
  const folder = await mkdtemp(path.join(tmpdir(), 'touchstone-client-'))
  const interrupts = onInterrupt(() => interrupted.abort())
  try {
    const { serverUrl, fixture } = where
    const { provoke: steps, edition, timeoutMs } = flags
    const only = flags.only.length === 0 ? null : flags.only.join()
    const client = command.map(shellWord).join(' ')
    return await judgeClient(
      { serverUrl, fixture, steps, client, only, edition, timeoutMs, ...(expected && { expectedFailures: expected }) },
      async (given) => {
        const file = path.join(folder, 'fixture.json')
        await writeFile(file, JSON.stringify(given.fixture), { mode: 0o600 })
        return runCommand(command, environmentOf(given, file), { timeoutMs, isQuiet, signal: interrupted.signal })
      },
    )
  } finally {
    interrupts.stop()
    await rm(folder, { recursive: true, force: true })
    await where.close?.()
  }
}

/**
 * The command `judge-client`: runs a client, and judges what it sends.
 *
 * @param argv what follows the word
 * @returns the exit code, as {@link exitCodeOf}
 */
export async function run(argv: readonly string[], dependencies: CheckDependencies = {}): Promise<number> {
  try {
    const parsed = createCommand().parse([...argv], { from: 'user' })
    const flags = parsed.opts<Flags>()
    const report = await judge(parsed.args, flags, dependencies)
    const stream = flags.report.some((output) => output.path === '-') ? process.stderr : process.stdout
    const { verbose = false, quiet = false } = flags
    createTerminalProgress(stream, { colour: wantsColour(stream, process.env), verbose, quiet }).finished?.(report)
    for (const { format, path: file } of flags.report) {
      await writeOutput(reportRenderers[format](report), file, process.stdout)
    }
    return exitCodeOf(report)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`touchstone judge-client: ${error.message}\n`)
    return 2
  }
}
