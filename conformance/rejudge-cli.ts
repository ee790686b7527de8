import { parseArgs } from 'node:util'
import { packageVersion } from '../specs/index.ts'
import { lineList } from './lib/report/escape.ts'
import {
  assertWritable,
  parseOutput,
  readReport,
  reportFormats,
  reportRenderers,
  writeOutput,
} from './lib/report/files.ts'
import { loadSuitesOf } from './lib/load-suite.ts'
import { UsageError } from './lib/usage-error.ts'
import { allClauses } from './lib/verdict.ts'
import { compareJudgements, rejudge } from './rejudge.ts'

const usage = `Usage: touchstone rejudge [--suite <package>] [--report <format=file>] <report.json>

Judges the recorded answers of a report again, by the checks of this version. Sends nothing.

Options:
  --suite <package>       a suite of somebody else that the run had: a package, or a path that begins with . or /; repeatable
  --report <format=file>  the report as it is judged now: ${reportFormats.join(', ')}; "-" is standard output; repeatable

Examples:
  touchstone check http://127.0.0.1:3000 --record --report json=report.json
  touchstone rejudge report.json
  touchstone rejudge report.json --report html=today.html

Exit codes:
  0  the same verdict, and the same status of each clause and check
  1  something is judged in another way
  2  wrong usage, or a report that cannot be judged again, or not all of it
`

interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

interface Flags {
  readonly report?: readonly string[] | undefined
  readonly suite?: readonly string[] | undefined
}

async function judgeAgain(path: string, flags: Flags, stdout: Streams['stdout']): Promise<0 | 1 | 2> {
  const { report: reports = [], suite: sources = [] } = flags
  const suites = await loadSuitesOf(sources, process.cwd())
  const outputs = reports.map((argument) => parseOutput(argument, reportFormats))
  for (const output of outputs) await assertWritable(output.path)
  const before = await readReport(path)
  const judged = await rejudge(before, suites)
  for (const output of outputs) await writeOutput(reportRenderers[output.format](judged.report), output.path, stdout)
  const { changed, open } = compareJudgements(before, judged)
  if (!outputs.some((output) => output.path === '-')) {
    const by = `Touchstone ${packageVersion()}; the report is of ${before.suite.version}`
    if (changed.length > 0) stdout.write(`Judged in another way (${by}):\n${lineList(changed)}`)
    if (open.length > 0) stdout.write(`${open.length} checks cannot be judged again (${by}):\n${lineList(open)}`)
    if (changed.length + open.length === 0) {
      stdout.write(`The same: ${judged.report.verdict}, ${allClauses(judged.report).length} clauses (${by}).\n`)
    }
  }
  return changed.length > 0 ? 1 : open.length > 0 ? 2 : 0
}

/**
 * The command `rejudge`.
 *
 * @param argv the arguments behind the word: a JSON report of `check --record`
 * @returns the exit code: 0 the same, 1 changed, 2 wrong usage, or not everything can be judged again
 */
export async function run(argv: readonly string[], { stdout, stderr }: Streams = process): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h' },
        report: { type: 'string', multiple: true },
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
    return await judgeAgain(path, values, stdout)
  } catch (error) {
    const isTheirs =
      error instanceof UsageError || String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
    if (!isTheirs) throw error
    stderr.write(`touchstone rejudge: ${(error as Error).message}\n`)
    return 2
  }
}
