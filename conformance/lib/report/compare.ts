import type { ClauseLevel } from '../../../specs/index.ts'
import type { CheckResult, ClauseResult, Report } from '../report-types.ts'
import { allClauses } from '../verdict.ts'
import { observationsOf, shownStatus, type ShownStatus } from './words.ts'

/** A report and the name that tells it from the others. */
export interface NamedReport {
  readonly name: string
  readonly report: Report
}

/** What one report says of a clause. */
export interface ComparedCell {
  readonly status: ShownStatus
  /** Why the clause failed or was not tested, and what was observed, one per line; empty when it passed. */
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
  /** Clauses with another status or another observation: required ones first, then recommended, then unspecified. */
  readonly differences: readonly ComparedClause[]
  /** Clauses with the same outcome in every report, in the order of the documents. */
  readonly same: readonly ComparedClause[]
  /** Clauses that some report does not have, and that do not differ in the others, in the order of the documents. */
  readonly incomplete: readonly ComparedClause[]
}

const levelOrder: readonly ClauseLevel[] = ['required', 'recommended', 'unspecified']

/** The comparison shows this many details of a clause. The reports show all. */
const shownDetails = 3

function cellOf(clause: ClauseResult): ComparedCell {
  const details = clause.tests.flatMap((check) => {
    if (check.status === 'failed') return `${check.title}: ${check.error?.message ?? 'failed'}`
    return (check.status === 'untestable' && check.reason) || []
  })
  const distinct = [...new Set([...details, ...observationsOf(clause)])]
  // The comparison shows every answer to a question.
  const shown = clause.level === 'unspecified' ? distinct : distinct.slice(0, shownDetails)
  const more = distinct.length - shown.length
  return { status: shownStatus(clause), detail: [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n') }
}

/**
 * Texts that change between two runs against the same target, and their replacements. The first pattern that fits
 * counts.
 */
const changing: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, 'UUID'],
  [/(\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d( GMT)?|\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME'],
  [/0x[0-9a-f]+/gi, 'HEX'],
  // A shortened answer may end inside a value.
  [/[^\s"]*…/g, '…'],
  [/\d+(\.\d+)? ?(ms|s)\b/g, 'DURATION'],
  [/\d+\.\d+|\d{4,}/g, 'AMOUNT'],
]

/** An observation without the addresses, hashes, times and amounts that differ between two runs against one target. */
function normaliseObservation(text: string): string {
  return changing.reduce((normal, [pattern, word]) => normal.replace(pattern, word), text)
}

/**
 * Whether a clause differs between the reports: its status, or for a question the kind of answer. A report without
 * the clause does not count.
 */
function differs({ level, cells }: ComparedClause): boolean {
  const present = cells.filter((cell) => cell !== undefined)
  const outcomes = present.map(({ status, detail }) =>
    level === 'unspecified' ? `${status} ${normaliseObservation(detail)}` : status,
  )
  return new Set(outcomes).size > 1
}

/** Puts reports side by side, clause by clause. */
export function compareReports(reports: readonly NamedReport[]): Comparison {
  const heads = new Map<string, ClauseResult>()
  for (const { report } of reports) {
    for (const clause of allClauses(report)) if (!heads.has(clause.id)) heads.set(clause.id, clause)
  }
  const rows = Array.from(heads.values(), ({ id, document, level, text }): ComparedClause => {
    const cells = reports.map(({ report }) => {
      const clause = allClauses(report).find((other) => other.id === id)
      return clause && cellOf(clause)
    })
    return { id, document, level, text, cells }
  })
  return {
    reports,
    differences: levelOrder.flatMap((level) => rows.filter((row) => row.level === level && differs(row))),
    same: rows.filter((row) => !differs(row) && !row.cells.includes(undefined)),
    incomplete: rows.filter((row) => !differs(row) && row.cells.includes(undefined)),
  }
}

/** A failed check, and the checks that failed in the same way. */
interface FailedAlike {
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
