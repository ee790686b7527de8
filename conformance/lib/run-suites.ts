import Mocha from 'mocha'
import { clauses, type ClauseId } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'
import type { Environment } from './environment.ts'
import { Fault } from './outcome.ts'
import type { CheckResult } from './report-types.ts'
import { runCheck } from './run-check.ts'

type OnChecked = (id: ClauseId, result: CheckResult) => void

const clauseOf = new WeakMap<Mocha.Suite, ClauseId>()
const checkResults = new WeakMap<Mocha.Runnable, CheckResult>()

/** What mocha says of a test that never reached its own result: an error that came from somewhere else. */
function unexplained(test: Mocha.Test): CheckResult {
  const reason = `a fault of the suite itself, not of the target: ${test.err?.message ?? 'no result'}`
  return { title: test.title, status: 'untestable', reason, durationMs: test.duration ?? 0, exchanges: [] }
}

/** A mocha reporter that prints nothing and hands each result on. */
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

/** What could spend, or is only recommended, comes later: a target that dies of it has been judged by then. */
function stageOf({ id, checks }: ClauseSuite): number {
  if (checks.every(({ isLast }) => isLast)) return 4
  const { level, needs } = clauses[id]
  return (level === 'required' ? 0 : 2) + (needs.includes('spend') ? 1 : 0)
}

/** The checks that come when all others are done stand for themselves. */
function withoutLast({ id, checks }: ClauseSuite): ClauseSuite[] {
  const parts = [checks.filter(({ isLast }) => !isLast), checks.filter(({ isLast }) => isLast)]
  return parts.filter((part) => part.length > 0).map((part) => ({ id, checks: part }))
}

/**
 * Runs the checks under mocha: one suite per document and stage, in it one per clause. Required clauses come before
 * the others, and in both halves what spends nothing comes first; then come the checks that are to be the last.
 *
 * The command `mocha` could not do this: it knows passed and failed, and a clause may also be untestable or observed; the
 * target, the fixture and the order of the stages are known at run time only; and a run writes one report, also when it is
 * used as a library. So the suites are data (`clause()`), and mocha is given them through its own API.
 *
 * @param onChecked is told each result as it comes, in order
 * @param isHopeless asked after each check; when it says so, the rest is not run
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
    const { id, checks } = suiteOfClause
    const title = `${clauses[id].document}, stage ${stageOf(suiteOfClause)}`
    const parent = parents.get(title) ?? Mocha.Suite.create(mocha.suite, title)
    parents.set(title, parent)
    const suite = Mocha.Suite.create(parent, id)
    clauseOf.set(suite, id)
    for (const check of checks) {
      const test = new Mocha.Test(check.title, async function (this: Mocha.Context) {
        const result = await runCheck(environment, id, check)
        checkResults.set(test, result)
        if (result.status === 'untestable') this.skip()
        if (result.status === 'failed') throw new Fault(result.error?.message ?? 'failed')
      })
      suite.addTest(test)
    }
  }
  return new Promise((resolve) => {
    // Disposed of, so that run after run in one process leaves no listeners behind.
    const runner = mocha.run(() => {
      mocha.dispose()
      resolve()
    })
    runner.on('test end', () => {
      if (isHopeless()) runner.abort()
    })
  })
}
