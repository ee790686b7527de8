import { AssertionError } from 'chai'
import type { CheckDefinition, ClauseSuite } from './clause.ts'
import { beginScope, createContext, requireNeeds, type CheckRecord, type Environment } from './environment.ts'
import { Fault, showValue, Untestable } from './outcome.ts'
import type { CheckError, CheckResult, Exchange } from './report-types.ts'
import { inScope, missingInRecord, ourTimeMs } from './world.ts'

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
