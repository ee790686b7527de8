import type { CheckResult, CheckStatus, ClauseResult, LevelCounts, Report, Verdict } from './report-types.ts'

/** Exit codes of `check`, by verdict. */
export const exitCodes: Readonly<Record<Verdict, number>> = { conformant: 0, nonconformant: 1, error: 2, partial: 3 }

/** The status of a clause: one failed check fails it, and one that could not be made leaves it open. */
export function clauseStatus(checks: readonly CheckResult[]): CheckStatus {
  const statuses = checks.map(({ status }) => status)
  for (const status of ['failed', 'observed', 'untestable'] as const) if (statuses.includes(status)) return status
  return statuses.length === 0 ? 'untestable' : 'passed'
}

function count(results: readonly ClauseResult[], level: 'required' | 'recommended'): LevelCounts {
  const of = (status: CheckStatus): number => results.filter((r) => r.level === level && r.status === status).length
  return { passed: of('passed'), failed: of('failed'), untestable: of('untestable') }
}

/** Counts by level. A failure that was expected is counted as a failure. */
export function summarise(results: readonly ClauseResult[]): Report['summary'] {
  const questions = results.filter(({ level }) => level === 'unspecified')
  const observed = questions.filter(({ status }) => status === 'observed').length
  return {
    required: count(results, 'required'),
    recommended: count(results, 'recommended'),
    unspecified: { observed, untestable: questions.length - observed },
  }
}

/** Only required clauses and a stale list of expected failures decide. */
export function verdictOf(results: readonly ClauseResult[], stale: boolean): Verdict {
  const required = results.filter(({ level }) => level === 'required')
  if (stale || required.some(({ status, known }) => status === 'failed' && !known)) return 'nonconformant'
  if (results.length === 0 || required.some(({ status }) => status === 'untestable')) return 'partial'
  return 'conformant'
}
