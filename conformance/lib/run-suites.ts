import { AssertionError } from 'chai'
import Mocha from 'mocha'
import type { CheckDefinition, ClauseSuite } from './clause.ts'
import { beginScope, type CheckRecord, createContext, type Environment, requireNeeds } from './environment.ts'
import { Fault, showValue, Untestable } from './outcome.ts'
import type { CheckError, CheckResult, Exchange } from './report-types.ts'
import { inScope, missingInRecord, ourTimeMs } from './world.ts'

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
 * The stage of a check. Clauses that spend, and recommended ones, come later: a target that dies of them has been judged
 * on the others.
 */
function stageOf({ level, needs }: ClauseSuite['clause'], { isLast, looksBack }: CheckDefinition): number {
  if (looksBack) return 5
  if (isLast) return 4
  return (level === 'required' ? 0 : 2) + (needs.includes('spend') ? 1 : 0)
}

/** The checks of a clause that share a stage. */
interface Part {
  readonly stage: number
  readonly suite: ClauseSuite
}

function partsOf(suite: ClauseSuite): Part[] {
  const byStage = Map.groupBy(suite.checks, (check) => stageOf(suite.clause, check))
  return [...byStage].map(([stage, checks]) => ({ stage, suite: { ...suite, checks } }))
}

/**
 * Runs the checks with mocha: one suite for each document and stage, and in it one for each clause. Required clauses
 * come before the others. In both halves, clauses that spend nothing come first. Checks that are marked as last come
 * at the end, and those that look back after them.
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
  for (const { stage, suite: suiteOfClause } of suites.flatMap(partsOf).toSorted((a, b) => a.stage - b.stage)) {
    const { id, clause, checks } = suiteOfClause
    const title = `${clause.document}, stage ${stage}`
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

/** A question that the record lacks is shown to this length. */
const shownChars = 200

type Outcome = Pick<CheckResult, 'status' | 'error' | 'reason' | 'because'>

function errorOf({ message, expected, actual, answer }: Fault, exchanges: readonly Exchange[]): CheckError {
  const at = answer === undefined ? -1 : exchanges.indexOf(answer.exchange)
  return {
    message,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
    ...(at < 0 ? {} : { exchange: at }),
  }
}

/**
 * Turns what a check threw into its outcome. A fault of the suite itself makes the check untestable and accuses
 * nobody.
 */
export function outcomeOf(error: unknown, id: string, exchanges: readonly Exchange[]): Outcome {
  if (error instanceof Untestable) {
    const { message: reason, because } = error
    return { status: 'untestable', reason, ...(because === undefined ? {} : { because }) }
  }
  if (error instanceof Fault && error.of !== undefined && error.of !== id) {
    return { status: 'untestable', reason: `${error.of} fails: ${error.message}`, because: error.of }
  }
  if (error instanceof Fault) return { status: 'failed', error: errorOf(error, exchanges) }
  if (error instanceof AssertionError) {
    const values = error as Error & { expected?: unknown; actual?: unknown; showDiff?: boolean }
    const compared = values.showDiff ? { expected: showValue(values.expected), actual: showValue(values.actual) } : {}
    return { status: 'failed', error: { message: error.message, ...compared } }
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return { status: 'untestable', reason: `a fault of the suite itself, not of the target: ${name}: ${message}` }
}

/** Adds the exchange that shows a fault: a later check may see the effect of an earlier request. */
function keepExchange({ answer }: Fault, { exchanges }: CheckRecord): void {
  if (answer && !exchanges.includes(answer.exchange)) exchanges.push(answer.exchange)
}

/** The name of a check in the record of a run. */
export const scopeOfCheck = (id: string, title: string): string => `${id}: ${title}`

/** Runs one check and returns its result. Never throws. */
export function runCheck(
  environment: Environment,
  suite: Pick<ClauseSuite, 'id' | 'clause'>,
  check: CheckDefinition,
): Promise<CheckResult> {
  return inScope(scopeOfCheck(suite.id, check.title), () => runInScope(environment, suite, check))
}

async function runInScope(
  environment: Environment,
  { id, clause: { level, needs } }: Pick<ClauseSuite, 'id' | 'clause'>,
  check: CheckDefinition,
): Promise<CheckResult> {
  const record: CheckRecord = { exchanges: [], observations: [], accusations: [] }
  const start = ourTimeMs()
  beginScope(environment)
  let outcome: Outcome = { status: level === 'unspecified' ? 'observed' : 'passed' }
  try {
    const context = createContext(environment, id, record)
    requireNeeds(check.needs ?? needs, context)
    await check.body(context)
  } catch (error) {
    if (error instanceof Fault) keepExchange(error, record)
    outcome = outcomeOf(error, id, record.exchanges)
    if (error instanceof Fault) record.accusations.push(error)
  }
  const missing = missingInRecord()
  if (missing !== undefined) {
    // Nobody knows what the target would have answered, so nothing of this check may accuse it.
    outcome = {
      status: 'untestable',
      reason: `cannot be judged again: the record does not answer ${missing.slice(0, shownChars)}`,
    }
    record.accusations.length = 0
  }
  for (const fault of record.accusations) {
    keepExchange(fault, record)
    if (fault.of !== undefined && fault.of !== id) {
      environment.evidence.add(fault, { id, title: check.title }, errorOf(fault, record.exchanges), record.exchanges)
    } else if (outcome.status !== 'failed') {
      outcome = outcomeOf(fault, id, record.exchanges)
    }
  }
  // A question has no verdict, so a failed assertion is an observation as well.
  if (level === 'unspecified' && outcome.status === 'failed') {
    record.observations.push(outcome.error?.message ?? '')
    outcome = { status: 'observed' }
  }
  const observations = [...new Set(record.observations)]
  return {
    title: check.title,
    ...outcome,
    durationMs: Math.round(ourTimeMs() - start),
    ...(observations.length > 0 ? { observations } : {}),
    exchanges: record.exchanges,
  }
}
