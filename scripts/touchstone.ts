#!/usr/bin/env node
import './assert-runtime.ts'
import { packageVersion } from '../specs/index.ts'
import { Command, CommanderError } from 'commander'
import { UsageError } from '../conformance/lib/outcome.ts'
import { OperatorError } from '../server/core/errors.ts'
import { withPackages, type PackageGroup } from './needed-packages.ts'

/** A command: it gets the arguments after its name, and returns the exit code; 2 is wrong usage. */
interface CommandModule {
  run(argv: readonly string[]): Promise<number>
}

interface CommandEntry {
  readonly does: string
  readonly module: string
  /** What it needs beside the dependencies of the published package. */
  readonly needs?: readonly PackageGroup[]
  /** Why the published package does not have it; absent: it has. */
  readonly inRepositoryOnly?: string
}

/** A command's module is loaded when the command is called. */
const commands: Readonly<Record<string, CommandEntry>> = {
  up: {
    does: 'the testbed: chain, contracts, fixture and reference server, until Ctrl-C',
    module: './up.ts',
    needs: ['server', 'chain'],
  },
  check: { does: 'the conformance suite against any relay; without a URL, against a testbed', module: './check.ts' },
  'judge-client': { does: 'runs a client of relays, and judges what it sends', module: './judge-client.ts' },
  doctor: { does: 'looks at what a run of check depends on, in a second', module: '../conformance/doctor-cli.ts' },
  serve: {
    does: 'the reference server alone, in front of any Ethereum node',
    module: '../server/cli.ts',
    needs: ['server'],
  },
  provision: { does: 'deploys what the suite needs on any chain, and writes the fixture', module: './provision.ts' },
  report: { does: 'shows results of check, one or several side by side', module: '../conformance/report-cli.ts' },
  clauses: { does: 'lists the clauses of the documents', module: '../conformance/clauses-cli.ts' },
  explain: { does: 'what a clause asks, or what is wrong with a request body', module: './explain.ts' },
  reproduce: { does: 'the requests of a report as curl commands', module: '../conformance/reproduce-cli.ts' },
  rejudge: { does: 'judges the recorded answers of a report again', module: '../conformance/rejudge.ts' },
  verify: { does: 'says whether a recorded report is true', module: '../conformance/verify.ts' },
  prove: {
    does: 'runs the suite against servers that are broken, or only different, on purpose',
    module: './prove.ts',
    needs: ['server', 'chain'],
  },
  mutants: {
    does: 'the first half of prove: the servers that are broken on purpose',
    module: './mutants.ts',
    needs: ['server', 'chain'],
  },
  profiles: {
    does: 'registers profiles with the reference server',
    module: '../server/profiles-cli.ts',
    needs: ['server'],
  },
  bundler: {
    does: 'deploys the contract that puts relay calls into one transaction',
    module: './bundler.ts',
    needs: ['server', 'chain'],
  },
  sign: { does: 'prints a signed request body, to try a relay with curl', module: './sign.ts' },
  bench: { does: 'the benchmarks, each a ratio against its own floor', module: './bench.ts' },
  simulate: {
    does: 'the relayer on a virtual clock, with faults that a seed decides',
    module: './simulate.ts',
    inRepositoryOnly: 'it runs the sources',
  },
  new: { does: 'begins a new plugin or clause', module: './new.ts', inRepositoryOnly: 'it writes into the sources' },
  generate: { does: 'writes what is made from specs/', module: './generate.ts', inRepositoryOnly: 'it writes sources' },
  build: { does: 'builds the package in dist/', module: './build.ts', inRepositoryOnly: 'it builds the sources' },
  test: { does: 'types, lint, format, and all tests', module: './test.ts', inRepositoryOnly: 'it tests the sources' },
}

/** Whether the sources run; the published package has what is built from them. */
const isRepository = import.meta.filename.endsWith('.ts')

/** When something keeps the process alive after its command is done, it is ended after this time. */
const LINGER_MS = 500

async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0
  const program = new Command('touchstone')
    .description('Conformance suite, reference server and testbed for transaction relay services')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .version(packageVersion())
    .enablePositionalOptions()
    .exitOverride()
  for (const [word, { does, module, needs = [], inRepositoryOnly }] of Object.entries(commands)) {
    const isMissing = inRepositoryOnly !== undefined && !isRepository
    program
      .command(word, { hidden: isMissing })
      .description(does)
      .argument('[arguments...]')
      // The command parses its own arguments, --help among them.
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(async (rest: string[]) => {
        if (isMissing) throw new UsageError(`${word} works in a clone of the repository alone: ${inRepositoryOnly}`)
        if (rest[0] === '--version' || rest[0] === '-V') return void process.stdout.write(`${packageVersion()}\n`)
        const command = (await withPackages(word, needs, () => import(module))) as CommandModule
        exitCode = await command.run(rest)
      })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (isMendable(error)) process.stderr.write(`${error.message}\n`)
    // The exit code is not 1: the suite uses that for a target that failed.
    else console.error(error)
    return 2
  }
}

/** Whether the message says what to do: also that of Node's `parseArgs`. */
function isMendable(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof OperatorError) return true
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

// `touchstone clauses | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
process.exitCode = await main(process.argv.slice(2))
setTimeout(() => process.exit(), LINGER_MS).unref()
