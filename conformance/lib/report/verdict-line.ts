import type { Report } from '../report-types.ts'
import { seconds } from './seconds.ts'
import { verdictWord } from './words.ts'

function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Why the verdict is what it is, without the word for it. */
export function verdictReason(report: Report): string {
  const { required, recommended, unspecified } = report.summary
  const total = required.passed + required.failed + required.untestable
  const known = report.clauses.filter((clause) => clause.level === 'required' && clause.known).length
  const parts: string[] = []
  if (required.failed > 0) parts.push(`${required.failed} of ${plural(total, 'required clause')} failed`)
  else parts.push(`${required.passed} of ${plural(total, 'required clause')} passed`)
  if (known > 0) parts.push(`${known} of them as expected`)
  if (report.staleExpectedFailures?.length) {
    parts.push(`the list of expected failures is stale (${report.staleExpectedFailures.length})`)
  }
  if (required.untestable > 0) parts.push(`${required.untestable} could not be tested`)
  if (recommended.failed > 0) parts.push(`${plural(recommended.failed, 'recommendation')} not met`)
  if (unspecified.observed > 0) parts.push(`${plural(unspecified.observed, 'observation')} recorded`)
  return parts.join(', ')
}

/** The verdict in one line. */
export function verdictLine(report: Report): string {
  return `${verdictWord[report.verdict]}: ${verdictReason(report)} (${seconds(report.durationMs)})`
}
