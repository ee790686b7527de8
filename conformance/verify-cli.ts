import { parseArgs } from 'node:util'
import { connectChain } from './lib/chain-truth.ts'
import { Untestable } from './lib/outcome.ts'
import { lineList } from './lib/report/escape.ts'
import { readReport } from './lib/report/files.ts'
import { loadSuitesOf } from './lib/load-suite.ts'
import { UsageError } from './lib/usage-error.ts'
import { allClauses } from './lib/verdict.ts'
import { type Verification, verify } from './verify.ts'

const usage = `Usage: touchstone verify <report.json> --rpc-url <node> [--suite <package>]

Says whether a recorded report is true: looks at its digest and its signature, judges its record again, recovers each signature
of the run, and asks the chain for each transaction that the run caused and for each answer of the chain in the record. Sends
nothing to the relay. --suite names a suite of somebody else that the run had: a package, or a path that begins with . or /; repeatable.

Examples:
  touchstone check https://relay.example --fixture fixture.json --record --report json=report.json
  touchstone verify report.json --rpc-url https://node.example

Exit codes:
  0  the report is true
  1  the report is not true
  2  nobody can tell: wrong usage, a report without a record or of a version that asked otherwise, a node that does not answer
`

interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** What agrees, in lines. */
function agreements(clauses: number, { signer, signatures, chain }: Verification): string {
  const lines = [
    signer === undefined
      ? 'Nobody signed it: the run had no fixture.'
      : `Signed by ${signer}, a controller of the run.`,
    `${clauses} clauses are judged alike again, and ${signatures} signatures are by whom the record names.`,
    ...(chain
      ? [
          `${chain.transactions} transactions and ${chain.answers} answers are those of the chain; ${chain.signed} of the transactions carry a signature of ${signer ?? 'nobody'}.`,
        ]
      : ['The run asked no chain.']),
    ...(chain && chain.notAsked > 0
      ? [`The node no longer has ${chain.notAsked} of the states that the run saw.`]
      : []),
  ]
  return lines.map((line) => `  ${line}\n`).join('')
}

async function verdictOn(
  path: string,
  rpcUrl: string | undefined,
  sources: readonly string[],
): Promise<{ text: string; code: 0 | 1 | 2 }> {
  const report = await readReport(path)
  if (report.chain && rpcUrl === undefined) {
    throw new UsageError(`the run asked chain ${report.chain.chainId}: name a node of it with --rpc-url`)
  }
  const suites = await loadSuitesOf(sources, process.cwd())
  const verification = await verify(report, rpcUrl === undefined ? undefined : await connectChain(rpcUrl), suites)
  const { findings, open } = verification
  if (findings.length > 0) return { text: `The report is not true:\n${lineList(findings)}`, code: 1 }
  if (open.length > 0) {
    const by = `it is of Touchstone ${report.suite.version}`
    return { text: `Nobody can tell whether the report is true (${by}):\n${lineList(open)}`, code: 2 }
  }
  return { text: `The report is true:\n${agreements(allClauses(report).length, verification)}`, code: 0 }
}

/**
 * The command `verify`.
 *
 * @param argv the arguments behind the word: a JSON report of `check --record`, and `--rpc-url`
 * @returns the exit code: 0 true, 1 not true, 2 nobody can tell
 */
export async function run(argv: readonly string[], { stdout, stderr }: Streams = process): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h' },
        'rpc-url': { type: 'string' },
        suite: { type: 'string', multiple: true },
      },
      allowPositionals: true,
    })
    if (values.help) {
      stdout.write(usage)
      return 0
    }
    const [path] = positionals
    if (path === undefined || positionals.length > 1) throw new UsageError('name one report')
    const { text, code } = await verdictOn(path, values['rpc-url'], values.suite ?? [])
    stdout.write(text)
    return code
  } catch (error) {
    const isTheirs =
      error instanceof UsageError ||
      error instanceof Untestable ||
      String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
    if (!isTheirs) throw error
    stderr.write(`touchstone verify: ${(error as Error).message}\n`)
    return 2
  }
}
