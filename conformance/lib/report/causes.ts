import type { CheckResult, ClauseResult } from '../report-types.ts'
import { normaliseObservation } from './compare.ts'

/** A failed check, and the checks that failed in the same way. */
export interface FailedAlike {
  /** The first of them, to be shown in full. */
  readonly check: CheckResult
  /** The titles of the others. */
  readonly others: readonly string[]
}

/** Clauses that failed in the same ways, as those do that one fault of the target breaks. */
export interface SharedCause {
  readonly clauses: readonly ClauseResult[]
  readonly failures: readonly FailedAlike[]
}

/**
 * What went wrong in a check, as a key: what was expected and what was there, without the hashes, times and amounts that
 * differ each time. The message counts only where a check says neither, since it names the request.
 */
function causeOf({ error }: CheckResult): string {
  const { message = '', expected, actual } = error ?? {}
  const said = expected === undefined && actual === undefined ? [message] : [expected ?? '', actual ?? '']
  return JSON.stringify(said.map(normaliseObservation))
}

const failedChecks = ({ tests }: ClauseResult): CheckResult[] => tests.filter(({ status }) => status === 'failed')

/** The failed clauses by what went wrong, in the order of the first clause of each cause. */
export function groupByCause(failed: readonly ClauseResult[]): SharedCause[] {
  const keyOf = (clause: ClauseResult): string => [...new Set(failedChecks(clause).map(causeOf))].sort().join()
  return Array.from(Map.groupBy(failed, keyOf).values(), (clauses) => ({
    clauses,
    failures: Array.from(Map.groupBy(clauses.flatMap(failedChecks), causeOf).values()).flatMap(([check, ...others]) =>
      check ? [{ check, others: others.map(({ title }) => title) }] : [],
    ),
  }))
}

/** `the same in 2 other checks: a number; a boolean` */
export function sameIn(titles: readonly string[]): string {
  const checks = `the same in ${titles.length} other check${titles.length === 1 ? '' : 's'}`
  return `${checks}: ${[...new Set(titles)].join('; ')}`
}
