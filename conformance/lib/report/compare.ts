import type { ClauseLevel } from '../../../specs/index.ts'
import type { ClauseResult, Report } from '../report-types.ts'
import { shownStatus, type ShownStatus } from './words.ts'

/** A report and the name that sets it apart from the others. */
export interface NamedReport {
  readonly name: string
  readonly report: Report
}

/** What one report says of a clause. */
export interface ComparedCell {
  readonly status: ShownStatus
  /** Why it failed or was not tested, or what was observed; empty when it passed. */
  readonly detail: string
}

export interface ComparedClause {
  readonly id: string
  readonly document: ClauseResult['document']
  readonly level: ClauseLevel
  readonly text: string
  /** In the order of the reports; undefined where a report does not have the clause. */
  readonly cells: readonly (ComparedCell | undefined)[]
}

export interface Comparison {
  readonly reports: readonly NamedReport[]
  /** Another status or another observation: required clauses first, then recommended, then unspecified. */
  readonly differences: readonly ComparedClause[]
  /** The rest, in the order of the documents. */
  readonly same: readonly ComparedClause[]
}

const levelOrder: readonly ClauseLevel[] = ['required', 'recommended', 'unspecified']

function cellOf(clause: ClauseResult): ComparedCell {
  const details = clause.tests.flatMap((check) => {
    if (check.status === 'failed') return `${check.title}: ${check.error?.message ?? 'failed'}`
    return (check.status === 'untestable' && check.reason) || []
  })
  if (clause.observation) details.push(clause.observation)
  return { status: shownStatus(clause), detail: [...new Set(details)].join('; ') }
}

/** A clause differs when its status does; for a question without a verdict the answer counts too. */
function differs({ level, cells }: ComparedClause): boolean {
  const seen = cells.map((cell) => cell && (level === 'unspecified' ? `${cell.status} ${cell.detail}` : cell.status))
  return new Set(seen).size > 1
}

/** Puts reports side by side, clause by clause. */
export function compare(reports: readonly NamedReport[]): Comparison {
  const heads = new Map<string, ClauseResult>()
  for (const { report } of reports) {
    for (const clause of report.clauses) if (!heads.has(clause.id)) heads.set(clause.id, clause)
  }
  const rows = Array.from(heads.values(), ({ id, document, level, text }): ComparedClause => {
    const cells = reports.map(({ report }) => {
      const clause = report.clauses.find((other) => other.id === id)
      return clause && cellOf(clause)
    })
    return { id, document, level, text, cells }
  })
  return {
    reports,
    differences: levelOrder.flatMap((level) => rows.filter((row) => row.level === level && differs(row))),
    same: rows.filter((row) => !differs(row)),
  }
}
