import { check, type CheckOptions } from './index.ts'
import { createReplay, unpackRecording } from './lib/recording.ts'
import type { Report } from './lib/report-types.ts'
import { scopeOfCheck } from './lib/run-check.ts'
import type { LoadedSuite } from './lib/load-suite.ts'
import { UsageError } from './lib/usage-error.ts'
import { allClauses } from './lib/verdict.ts'
import { inWorld } from './lib/world.ts'

/** A recorded run that was judged again. */
export interface Rejudged {
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
export interface Comparison {
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
