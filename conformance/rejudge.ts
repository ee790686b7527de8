import { packageVersion } from '../specs/index.ts'
import { check, type CheckOptions } from './index.ts'
import { UsageError } from './lib/outcome.ts'
import { createReplay, unpackRecording } from './lib/recording.ts'
import type { Report } from './lib/report-types.ts'
import { lineList } from './lib/report/escape.ts'
import {
  assertWritable,
  parseOutput,
  readReport,
  reportFormats,
  reportRenderers,
  writeOutput,
} from './lib/report/files.ts'
import { scopeOfCheck } from './lib/run-suites.ts'
import { type LoadedSuite, loadSuitesOf } from './lib/suites.ts'
import { allClauses } from './lib/verdict.ts'
import { inWorld } from './lib/world.ts'
import { runReportCommand, type Streams } from './report-command.ts'

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
export function run(argv: readonly string[], streams: Streams = process): Promise<number> {
  return runReportCommand(
    {
      word: 'rejudge',
      usage,
      options: { report: { type: 'string', multiple: true }, suite: { type: 'string', multiple: true } },
      names: ['one report', 1],
      work: ([path = ''], flags, stdout) => judgeAgain(path, flags, stdout),
    },
    argv,
    streams,
  )
}

/** A recorded run that was judged again. */
interface Rejudged {
  readonly report: Report
  /** The first question of a check, or of work that checks share, that the record does not answer. */
  readonly missed: ReadonlyMap<string, string>
  /** The recorded questions that no check has asked. */
  readonly unasked: readonly string[]
}

const runScope = 'run'

/**
 * Judges the recorded answers of a report again, by the checks of this version. Nothing is sent. A check that asks what the
 * record does not have is untestable.
 *
 * @param suites those of others that the run had
 * @throws UsageError when the report has no record, a suite is missing, or nothing in it can be judged again
 */
export async function rejudge(before: Report, suites: readonly LoadedSuite[] = []): Promise<Rejudged> {
  if (before.recording === undefined) {
    throw new UsageError(
      'the run was not recorded; check --record --report json=<file> writes a report that can be judged again',
    )
  }
  const named = suitesOf(before, suites)
  const { options, interruptedAfter, ...run } = unpackRecording(before.recording)
  const { world, missed, unasked } = createReplay(run, runScope)
  const interrupted = new AbortController()
  let made = 0
  const checked = (): void => {
    if (++made === interruptedAfter) interrupted.abort()
  }
  const given = {
    ...options,
    suites: named,
    signal: interrupted.signal,
    progress: { checked },
  } as unknown as CheckOptions
  try {
    const report = await inWorld(world, () => check(given))
    return { report, missed, unasked: unasked() }
  } catch (error) {
    const question = missed.get(runScope)
    if (question === undefined) throw error
    throw new UsageError(`the report cannot be judged again: the record does not answer ${question.slice(0, 200)}`)
  }
}

/**
 * The suites of a report, by the names that it gives them.
 *
 * @throws UsageError when one is not there
 */
export function suitesOf({ suites = [] }: Report, loaded: readonly LoadedSuite[]): LoadedSuite[] {
  return suites.map(({ prefix, source }) => {
    const found = loaded.find(({ suite }) => suite.prefix === prefix)
    if (!found) throw new UsageError(`the report has a part by the suite ${prefix}: name it with --suite ${source}`)
    return { ...found, source }
  })
}

/** What judging again has changed. */
interface Comparison {
  /** The verdict, the clauses and the checks that are judged in another way, one line each. */
  readonly changed: readonly string[]
  /** The checks that cannot be judged again, one line each: they ask what the record does not answer. */
  readonly open: readonly string[]
}

/** Compares the statuses of a report with those that its record gets now. What cannot be judged again has not changed. */
export function compareJudgements(before: Report, { report: after, missed }: Rejudged): Comparison {
  const changed: string[] = []
  const open: string[] = []
  const compare = (name: string, was: string, now: string | undefined): void => {
    if (now !== was) changed.push(`${name} was ${was} and is ${now ?? 'gone'}`)
  }
  for (const { id, status, tests } of allClauses(before)) {
    const now = allClauses(after).find((clause) => clause.id === id)
    const openBefore = open.length
    for (const { title, status: was } of tests) {
      const scope = scopeOfCheck(id, title)
      const question = missed.get(scope)
      const is = now?.tests.find((test) => test.title === title)?.status
      if (question !== undefined) open.push(`${scope}: the record does not answer ${question}`)
      // What another check saw is gone with that check.
      else if (is === undefined && missed.size > 0) open.push(`${scope}: another check cannot be judged again`)
      else compare(scope, was, is)
    }
    if (open.length === openBefore) compare(id, status, now?.status)
  }
  if (missed.size === 0) compare('the verdict', before.verdict, after.verdict)
  return { changed, open }
}
