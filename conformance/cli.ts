import { packageVersion } from '../specs/index.ts'
import { check, type CheckOptions, planCheck, UsageError } from './index.ts'
import { type Edition, type Report, editions } from './lib/report-types.ts'
import {
  allClauses,
  exitCodeOf,
  type ExpectedFailure,
  readExpectedFailures,
  writeExpectedFailures,
} from './lib/verdict.ts'
import { type Fixture, readFixture } from './lib/fixture.ts'
import { createTerminalProgress, onInterrupt, planLines } from './lib/report/terminal-progress.ts'
import { type LoadedSuite, loadSuitesOf, testbedConfigOf } from './lib/suites.ts'
import { collectHeaders, parseMilliseconds, parsePositiveInteger, readOptionFile } from './lib/options.ts'
import { redactUrl } from './lib/redact.ts'
import {
  assertWritable,
  type Output,
  parseOutput,
  type ReportFormat,
  reportFormats,
  reportRenderers,
  writeOutput,
} from './lib/report/files.ts'
import { type TextStream, wantsColour } from './lib/report/terminal.ts'
import { normaliseTarget, parseHttpUrl } from './lib/target.ts'
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { Command, CommanderError, Option } from 'commander'

/** `npm start` writes the fixture of its testbed here. */
const testbedFixture = '.touchstone/testbed.json'

/**
 * A relay has been seen to execute, fifteen seconds later, a call that it had refused. The run waits longer than
 * that.
 */
const defaultLingerMs = 17_000

/** A testbed that the command starts: a chain, contracts and the reference server. */
export interface Testbed {
  readonly fixture: Fixture
  readonly relayUrl: string
  readonly ethRpcBaseUrl: string
  readonly rpcUrl: string
  close(): Promise<void>
}

/** Members of the reference server's configuration. */
type ServerConfig = Readonly<Record<string, unknown>>

/** What the command cannot do itself, since the suite must not import the server. */
export interface CheckDependencies {
  /** @param config in place of the testbed's own: what the suites of others want there */
  readonly startTestbed?: (config: ServerConfig) => Promise<Testbed>
}

interface Streams {
  readonly stdout: TextStream
  readonly stderr: TextStream
}

interface Flags {
  readonly rpcUrl?: string
  readonly ethRpcUrl?: string
  readonly relay: boolean
  readonly ethRpc: boolean
  readonly fixture?: string
  readonly edition: Edition
  readonly requirements?: string
  readonly config?: string
  readonly only: readonly string[]
  readonly suite: readonly string[]
  readonly header: Readonly<Record<string, string>>
  readonly bail?: true
  readonly verbose?: true
  readonly quiet?: true
  readonly readOnly?: true
  readonly dryRun?: true
  readonly fuzz?: number
  readonly seed?: number
  readonly maxTransactions?: number
  readonly timeoutMs?: number
  readonly receiptTimeoutMs?: number
  readonly rateLimitTimeoutMs?: number
  readonly restartTimeoutMs?: number
  readonly lingerMs?: number
  readonly paging?: string
  readonly expectedFailures?: string
  readonly record?: true
  readonly writeExpectedFailures?: string
  readonly report: readonly Output<ReportFormat>[]
}

/** @throws InvalidArgumentError */
function parseLinger(text: string): number {
  return text === '0' ? 0 : parseMilliseconds(text)
}

const append = (text: string, before: readonly string[]): readonly string[] => [...before, text]

function outputs(text: string, before: readonly Output<ReportFormat>[]): readonly Output<ReportFormat>[] {
  return [...before, parseOutput(text, reportFormats)]
}

const examples = `
Examples:
  touchstone check http://127.0.0.1:3000
  touchstone check https://relay.example/api --fixture fixture.json --report html=report.html
  touchstone check --config check.yaml
  touchstone check https://relay.example/api --suite touchstone-suite-acme
  touchstone check https://relay.example/api --only relay.quota --only relay.execute.post --verbose
  touchstone check https://relay.example/api --header "Authorization: Bearer $TOKEN" --bail --quiet

Exit codes:
  0  conformant, a part that passed, or failures exactly as expected
  1  a required clause failed, or the list of expected failures is stale
  2  wrong usage, or the target could not be judged
  3  nothing failed, but a required clause could not be tested
`

/** Adds the options about random requests, money and time. */
function withLimits(command: Command): Command {
  return command
    .option('--fuzz <cases>', 'also send random requests: this many for each property', parsePositiveInteger)
    .option('--seed <number>', 'the seed of the random requests (default: a new one)', parsePositiveInteger)
    .option(
      '--max-transactions <count>',
      'how many transactions the run may cause (default: 200)',
      parsePositiveInteger,
    )
    .option('--timeout-ms <ms>', 'how long to wait for each answer (default: 10000)', parseMilliseconds)
    .option(
      '--receipt-timeout-ms <ms>',
      'how long to wait until a transaction is mined (default: 60000)',
      parseMilliseconds,
    )
    .option(
      '--rate-limit-timeout-ms <ms>',
      'how long to wait for all rate limits together (default: 600000)',
      parseMilliseconds,
    )
    .option(
      '--restart-timeout-ms <ms>',
      'how long to wait until a target that died listens again (default: 20000)',
      parseMilliseconds,
    )
    .option(
      '--linger-ms <ms>',
      `how long to wait, before the last look, for calls that must not be executed (default: ${defaultLingerMs}; 0 with --only and for its own testbed)`,
      parseLinger,
    )
    .option(
      '--paging <container[:key]>',
      'how the target takes the pagination options of eth_getLogs (default: the run finds it out)',
    )
}

function createCommand({ stdout, stderr }: Streams): Command {
  const command = new Command('touchstone check')
    .description('Checks a relay against the two documents. Without a URL, starts a testbed and checks its relay.')
    .argument('[relay-url]', 'the base URL of POST /execute and POST /quota')
    .option('--rpc-url <url>', "a node of the target's chain, to compare answers with")
    .option('--eth-rpc-url <url>', "the base URL of POST /api/eth-rpc (default: the relay's)")
    .option('--no-eth-rpc', 'leave the eth-rpc document out')
    .option('--no-relay', 'leave the relay document out')
    .option('--fixture <file>', `profile and controllers to use (default: ${testbedFixture}, when it names the URL)`)
    .addOption(new Option('--edition <name>', 'the edition of the documents').choices(editions).default('documents'))
    .option('--requirements <set>', 'a frozen set of clauses and checks, as 2026-11 (default: the current one)')
    .option(
      '--config <file>',
      'a file of options in YAML or JSON; an option of the command line replaces that of the file',
    )
    .option('--only <clause>', 'a clause id, or the beginning of one; repeatable', append, [])
    .option(
      '--suite <package>',
      'also judge an extension, by a suite of somebody else: a package, or a path that begins with . or /; repeatable',
      append,
      [],
    )
    .option(
      '--header <name: value>',
      'a header for each request; no report shows its value; repeatable',
      collectHeaders,
      {},
    )
    .option('--bail', 'end the run after the first required clause that fails')
    .option('--verbose', 'also show the observations')
    .option('--quiet', 'show only failures and the verdict')
    .option('--read-only', 'send nothing that could spend')
    .option('--dry-run', 'say what the run would do and cost, and send nothing')
  return withLimits(command)
    .option('--expected-failures <file>', 'a file with the clauses that are known to fail: a list of id, reason, link')
    .option(
      '--write-expected-failures <file>',
      'write the failures into that file, keep its entries, and expect the failures',
    )
    .option('--record', 'the JSON report holds every question and answer, signatures included, for rejudge and verify')
    .option('--report <format=file>', `${reportFormats.join(', ')}; "-" is standard output; repeatable`, outputs, [])
    .version(packageVersion())
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      // One line for each mistake, with the suggestion.
      outputError: (text, write) => write(`${text.trim().replaceAll('\n', ' ')}\n`),
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
}

/**
 * Reads the arguments, and the file that `--config` names. An argument counts before the file.
 *
 * @returns the URL of the relay, if any, and the options of both
 * @throws UsageError, CommanderError
 */
async function parse(argv: readonly string[], streams: Streams): Promise<{ url: string | undefined; flags: Flags }> {
  const typed = createCommand(streams).parse([...argv], { from: 'user' })
  const [url] = typed.args
  const { config } = typed.opts<Flags>()
  if (config === undefined) return { url, flags: typed.opts<Flags>() }
  const { relayUrl, options } = await readOptionFile(config)
  const isTyped = (flag: string): boolean => argv.some((word) => word === flag || word.startsWith(`${flag}=`))
  const ofFile = options.filter(({ flag }) => !isTyped(flag)).flatMap((option) => option.argv)
  const inFile = (text: string): void => void streams.stderr.write(`${config}: ${text}`)
  // The file is parsed alone first, so that the message about a mistake in it names the file.
  const file = createCommand(streams).allowExcessArguments().configureOutput({ writeErr: inFile })
  const [stray] = file.parse(ofFile, { from: 'user' }).args
  if (stray !== undefined) throw new UsageError(`${config}: "${stray}" belongs to an option that takes no value`)
  const both = createCommand(streams).parse([...ofFile, ...argv], { from: 'user' })
  return { url: url ?? relayUrl, flags: both.opts<Flags>() }
}

/** The fixture that `npm start` wrote, if it is of the server at this URL. */
async function fixtureNearby(relayUrl: string): Promise<Fixture | undefined> {
  const fixture = await readFixture(testbedFixture).catch(() => undefined)
  if (!fixture?.server?.relayUrl) return undefined
  const same = normaliseTarget({ relayUrl: fixture.server.relayUrl, ethRpcUrl: null }).relayUrl
  return same === normaliseTarget({ relayUrl, ethRpcUrl: null }).relayUrl ? fixture : undefined
}

interface Where {
  readonly relayUrl: string
  readonly ethRpcUrl: string
  readonly fixture: Fixture | undefined
  readonly rpcUrl: string | undefined
  close?(): Promise<void>
}

/** In place of the testbed, as long as there is none. */
const nowhere: Where = {
  relayUrl: 'http://localhost',
  ethRpcUrl: 'http://localhost',
  fixture: undefined,
  rpcUrl: undefined,
}

async function whereOf(
  url: string | undefined,
  flags: Flags,
  suites: readonly LoadedSuite[],
  { startTestbed }: CheckDependencies,
): Promise<Where> {
  const given = flags.fixture === undefined ? undefined : await readFixture(flags.fixture)
  const relayUrl = url ?? given?.server?.relayUrl
  if (relayUrl !== undefined) {
    const fixture = given ?? (await fixtureNearby(relayUrl))
    const ethRpcUrl = flags.ethRpcUrl ?? (url === undefined ? given?.server?.ethRpcBaseUrl : undefined) ?? relayUrl
    return { relayUrl, ethRpcUrl, fixture, rpcUrl: flags.rpcUrl }
  }
  if (!startTestbed) throw new UsageError('the URL of the relay is missing')
  // Options that cannot be meant end the command before a testbed is started.
  await planCheck(optionsOf(flags, nowhere, suites))
  const testbed = await startTestbed(testbedConfigOf(suites))
  const { fixture, ethRpcBaseUrl, rpcUrl } = testbed
  return { relayUrl: testbed.relayUrl, ethRpcUrl: ethRpcBaseUrl, fixture, rpcUrl, close: () => testbed.close() }
}

/** @throws UsageError */
async function expectedFailuresOf(flags: Flags): Promise<readonly ExpectedFailure[] | undefined> {
  if (flags.expectedFailures !== undefined && flags.writeExpectedFailures !== undefined) {
    throw new UsageError('--expected-failures and --write-expected-failures exclude each other')
  }
  // The file is read before the run, so that a file that is no list ends the command at once.
  const { writeExpectedFailures: path } = flags
  if (path !== undefined && existsSync(path)) await readExpectedFailures(path)
  return flags.expectedFailures === undefined ? undefined : readExpectedFailures(flags.expectedFailures)
}

function optionsOf(flags: Flags, where: Where, suites: readonly LoadedSuite[]): CheckOptions {
  if (!flags.relay && !flags.ethRpc) throw new UsageError('--no-relay and --no-eth-rpc leave nothing to judge')
  if (flags.record && !flags.report.some(({ format }) => format === 'json')) {
    throw new UsageError('--record writes into the JSON report: add --report json=<file>')
  }
  if (flags.rpcUrl !== undefined) parseHttpUrl(flags.rpcUrl)
  const only = flags.only.length === 0 ? undefined : flags.only.join()
  const { maxTransactions, timeoutMs, receiptTimeoutMs, rateLimitTimeoutMs, restartTimeoutMs, paging } = flags
  // A user repeats a partial run often, and the testbed of the command is known not to send calls later.
  const isQuick = only !== undefined || where.close !== undefined
  const { lingerMs = isQuick ? 0 : defaultLingerMs } = flags
  return {
    relayUrl: flags.relay ? where.relayUrl : null,
    ethRpcUrl: flags.ethRpc ? where.ethRpcUrl : null,
    edition: flags.edition,
    readOnly: flags.readOnly ?? false,
    lingerMs,
    headers: flags.header,
    suites,
    bail: flags.bail ?? false,
    record: flags.record ?? false,
    acceptFailures: flags.writeExpectedFailures !== undefined,
    ...(flags.fuzz === undefined ? {} : { fuzz: { cases: flags.fuzz, seed: flags.seed ?? randomInt(1, 2 ** 31) } }),
    ...(where.fixture ? { fixture: where.fixture } : {}),
    ...(where.rpcUrl === undefined ? {} : { rpcUrl: where.rpcUrl }),
    ...(only === undefined ? {} : { only }),
    ...(flags.requirements === undefined ? {} : { requirements: flags.requirements }),
    ...(maxTransactions === undefined ? {} : { maxTransactions }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(receiptTimeoutMs === undefined ? {} : { receiptTimeoutMs }),
    ...(rateLimitTimeoutMs === undefined ? {} : { rateLimitTimeoutMs }),
    ...(restartTimeoutMs === undefined ? {} : { restartTimeoutMs }),
    ...(paging === undefined ? {} : { paging }),
  }
}

/**
 * A word of the command without credentials. A URL may hold a password, or a key in its query, and other people read
 * logs.
 */
function withoutCredentials(word: string): string {
  const [, option = '', url = word] = /^(--[a-z-]+=)?(https?:.*)$/.exec(word) ?? []
  return /^https?:/.test(url) && URL.canParse(url) ? `${option}${redactUrl(url)}` : word
}

/** A word as a shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** The command that checks the same target again, without the options that select clauses or name reports. */
function commandOf(argv: readonly string[]): string {
  const isLeftOut = /^--(only|report|write-expected-failures|header)$/
  const kept: string[] = []
  for (const [index, word] of argv.entries()) {
    if (isLeftOut.test(word) || isLeftOut.test(argv[index - 1] ?? '')) continue
    if (!/^--(only|report|write-expected-failures|header)=/.test(word)) kept.push(withoutCredentials(word))
  }
  const quoted = kept.map(shellWord)
  const secret = argv.some((word) => /^--header(=|$)/.test(word)) ? [`--header '…'`] : []
  const command = process.env['npm_lifecycle_event'] === 'check' ? 'npm run check --' : 'npx touchstone check'
  return [command, ...quoted, ...secret].join(' ')
}

/** Runs the check, or prints the plan of a dry run, which has no report. */
async function checkAndReport(
  url: string | undefined,
  flags: Flags,
  dependencies: CheckDependencies,
  streams: Streams,
  command?: string,
): Promise<Report | undefined> {
  const expectedFailures = await expectedFailuresOf(flags)
  for (const { path } of flags.report) await assertWritable(path)
  const suites = await loadSuitesOf(flags.suite, process.cwd())
  const where = await whereOf(url, flags, suites, dependencies)
  try {
    const options = optionsOf(flags, where, suites)
    if (flags.dryRun) {
      streams.stdout.write(`${planLines(await planCheck(options)).join('\n')}\n`)
      return undefined
    }
    // A report may go to standard output, which then holds nothing else.
    const stream = flags.report.some(({ path }) => path === '-') ? streams.stderr : streams.stdout
    const progress = createTerminalProgress(stream, {
      colour: wantsColour(stream, process.env),
      verbose: flags.verbose ?? false,
      quiet: flags.quiet ?? false,
      ...(command === undefined ? {} : { command }),
    })
    const interrupted = new AbortController()
    const interrupts = onInterrupt(() => {
      streams.stderr.write(
        '\ninterrupted: the run ends after the present check and writes the reports; another Ctrl-C ends it at once\n',
      )
      interrupted.abort()
    })
    const { signal } = interrupted
    const report = await check({
      ...options,
      progress,
      signal,
      ...(expectedFailures ? { expectedFailures } : {}),
    }).finally(() => interrupts.stop())
    if (signal.aborted) {
      for (const { hash } of report.transactions) streams.stderr.write(`transaction caused: ${hash}\n`)
    }
    return report
  } finally {
    await where.close?.()
  }
}

/**
 * The command `check`.
 *
 * @param argv what follows the word
 * @returns the exit code, as {@link exitCodeOf}; 0 for a dry run
 */
export async function run(
  argv: readonly string[],
  dependencies: CheckDependencies = {},
  streams: Streams = process,
): Promise<number> {
  try {
    const { url, flags } = await parse(argv, streams)
    const report = await checkAndReport(url, flags, dependencies, streams, commandOf(argv))
    if (!report) return 0
    if (flags.writeExpectedFailures !== undefined) {
      const path = flags.writeExpectedFailures
      const before = await readFile(path, 'utf8').catch(() => undefined)
      await writeFile(path, writeExpectedFailures(allClauses(report), before))
    }
    for (const { format, path } of flags.report)
      await writeOutput(reportRenderers[format](report), path, streams.stdout)
    return exitCodeOf(report)
  } catch (error) {
    // Commander has printed its message already.
    if (error instanceof CommanderError) {
      if (error.code === 'commander.excessArguments' && process.env['npm_lifecycle_event'] !== undefined) {
        streams.stderr.write(
          'npm takes options for itself unless -- stands before them: npm run check -- <url> --only <clause>\n',
        )
      }
      return error.exitCode === 0 ? 0 : 2
    }
    if (!(error instanceof UsageError)) throw error
    streams.stderr.write(`touchstone check: ${error.message}\n`)
    return 2
  }
}
