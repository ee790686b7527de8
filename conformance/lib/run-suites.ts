import Mocha from 'mocha'
import type { ClauseSuite } from './clause.ts'
import type { Environment } from './environment.ts'
import { Fault } from './outcome.ts'
import type { CheckResult } from './report-types.ts'
import { runCheck } from './run-check.ts'

type OnChecked = (id: string, result: CheckResult) => void

const clauseOf = new WeakMap<Mocha.Suite, string>()
const checkResults = new WeakMap<Mocha.Runnable, CheckResult>()

/** The result of a test that ended by an error from elsewhere. */
function unexplained(test: Mocha.Test): CheckResult {
  const reason = `a fault of the suite itself, not of the target: ${test.err?.message ?? 'no result'}`
  return { title: test.title, status: 'untestable', reason, durationMs: test.duration ?? 0, exchanges: [] }
}

/** A mocha reporter that prints nothing and calls `onChecked` with each result. */
function collector(onChecked: OnChecked) {
  return class Collector {
    constructor(runner: Mocha.Runner) {
      runner.on('test end', (test) => {
        const id = test.parent ? clauseOf.get(test.parent) : undefined
        if (id) onChecked(id, checkResults.get(test) ?? unexplained(test))
      })
    }
  }
}

/**
 * The stage of a clause. Clauses that spend, and recommended ones, come later: a target that dies of them has been
 * judged on the others.
 */
function stageOf({ clause: { level, needs }, checks }: ClauseSuite): number {
  if (checks.every(({ isLast }) => isLast)) return 4
  return (level === 'required' ? 0 : 2) + (needs.includes('spend') ? 1 : 0)
}

/** Splits a clause in two: the checks that come last are a clause suite of their own. */
function withoutLast(suite: ClauseSuite): ClauseSuite[] {
  const { checks } = suite
  const parts = [checks.filter(({ isLast }) => !isLast), checks.filter(({ isLast }) => isLast)]
  return parts.filter((part) => part.length > 0).map((part) => ({ ...suite, checks: part }))
}

/**
 * Runs the checks with mocha: one suite for each document and stage, and in it one for each clause. Required clauses
 * come before the others. In both halves, clauses that spend nothing come first. Checks that are marked as last come
 * at the end.
 *
 * The command `mocha` cannot run these suites for three reasons. It knows passed and failed, while a clause may also
 * be untestable or observed. The target, the fixture and the order of the stages are known at run time only. A run
 * writes one report, also when another program calls it as a library. So a suite file holds data (`clause()`), and
 * this function hands the data to mocha through mocha's own API.
 *
 * @param onChecked called with each result, in order
 * @param isHopeless called after each check; `true` ends the run
 */
export function runSuites(
  suites: readonly ClauseSuite[],
  environment: Environment,
  onChecked: OnChecked,
  isHopeless: () => boolean = () => false,
): Promise<void> {
  // Each request and each wait has a deadline of its own.
  const mocha = new Mocha({ timeout: 0, reporter: collector(onChecked) as unknown as Mocha.ReporterConstructor })
  const parents = new Map<string, Mocha.Suite>()
  const inOrder = suites.flatMap(withoutLast).toSorted((a, b) => stageOf(a) - stageOf(b))
  for (const suiteOfClause of inOrder) {
    const { id, clause, checks } = suiteOfClause
    const title = `${clause.document}, stage ${stageOf(suiteOfClause)}`
    const parent = parents.get(title) ?? Mocha.Suite.create(mocha.suite, title)
    parents.set(title, parent)
    const suite = Mocha.Suite.create(parent, id)
    clauseOf.set(suite, id)
    for (const check of checks) {
      const test = new Mocha.Test(check.title, async function (this: Mocha.Context) {
        const result = await runCheck(environment, suiteOfClause, check)
        checkResults.set(test, result)
        if (result.status === 'untestable') this.skip()
        if (result.status === 'failed') throw new Fault(result.error?.message ?? 'failed')
      })
      suite.addTest(test)
    }
  }
  return new Promise((resolve) => {
    // `dispose` removes mocha's listeners, so that many runs in one process leave none behind.
    const runner = mocha.run(() => {
      mocha.dispose()
      resolve()
    })
    runner.on('test end', () => {
      if (isHopeless()) runner.abort()
    })
  })
}
