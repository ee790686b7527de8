import { Document, isMap, isSeq, parseDocument } from 'yaml'
import { clauses } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'
import { UsageError } from './outcome.ts'
import type {
  Cause,
  CheckResult,
  CheckStatus,
  ClauseResult,
  Edition,
  LevelCounts,
  Report,
  SuiteReport,
  Verdict,
} from './report-types.ts'
import { readYamlFile } from './yaml-file.ts'

/** The status of a clause. One failed check fails the clause; one untestable check leaves it open. */
export function clauseStatus(checks: readonly CheckResult[]): CheckStatus {
  const statuses = checks.map(({ status }) => status)
  for (const status of ['failed', 'observed', 'untestable'] as const) if (statuses.includes(status)) return status
  return statuses.length === 0 ? 'untestable' : 'passed'
}

/** A clause and what its checks found, with the sentence of the edition that was checked. */
export function clauseResult(
  { id, clause: { document, level, section, text, editions } }: Pick<ClauseSuite, 'id' | 'clause'>,
  tests: readonly CheckResult[],
  edition: Edition,
): ClauseResult {
  const observation = [...new Set(tests.flatMap(({ observations }) => observations ?? []))].join('; ')
  return {
    id,
    document,
    level,
    section,
    text: (edition === 'documents' ? undefined : editions?.[edition]) ?? text,
    status: clauseStatus(tests),
    ...(observation === '' ? {} : { observation }),
    tests,
  }
}

function count(results: readonly ClauseResult[], level: 'required' | 'recommended'): LevelCounts {
  const of = (status: CheckStatus): number => results.filter((r) => r.level === level && r.status === status).length
  return { passed: of('passed'), failed: of('failed'), untestable: of('untestable') }
}

/** The clauses of both documents, and those of the suites of others. */
export function allClauses({ clauses, suites = [] }: Pick<Report, 'clauses' | 'suites'>): readonly ClauseResult[] {
  return [...clauses, ...suites.flatMap((suite) => suite.clauses)]
}

/** Counts the clauses by level and status. An expected failure counts as a failure. */
export function countByLevel(results: readonly ClauseResult[]): SuiteReport['summary'] {
  const questions = results.filter(({ level }) => level === 'unspecified')
  const observed = questions.filter(({ status }) => status === 'observed').length
  return {
    required: count(results, 'required'),
    recommended: count(results, 'recommended'),
    unspecified: { observed, untestable: questions.length - observed },
  }
}

/** The clauses whose failure made this clause untestable. */
function causesOf({ status, tests }: ClauseResult): string[] {
  if (status !== 'untestable') return []
  return tests.flatMap((test) => (test.status === 'untestable' && test.because !== undefined ? [test.because] : []))
}

/** The failed clauses that made others untestable, each with these, in the order of the documents. */
export function findCauses(results: readonly ClauseResult[]): Cause[] {
  return results.flatMap(({ id: clause }) => {
    const notJudged = results.filter((result) => causesOf(result).includes(clause)).map(({ id }) => id)
    return notJudged.length > 0 ? [{ clause, notJudged }] : []
  })
}

/**
 * The verdict on the target. Only required clauses decide, and an expected failure is a failure.
 *
 * @param isPart whether the user left clauses out: the run then did not judge the whole target
 */
export function verdictOf(results: readonly ClauseResult[], isPart: boolean): Verdict {
  const required = results.filter(({ level }) => level === 'required')
  if (required.some(({ status }) => status === 'failed')) return 'nonconformant'
  if (required.length === 0 || required.some(({ status }) => status === 'untestable')) return 'partial'
  return isPart ? 'passed' : 'conformant'
}

/** Whether a required clause is untestable for another reason than an expected failure. */
function isOpen(result: ClauseResult, known: ReadonlySet<string>): boolean {
  if (result.level !== 'required' || result.status !== 'untestable') return false
  const open = result.tests.filter(({ status }) => status === 'untestable')
  return open.length === 0 || !open.every(({ because }) => because !== undefined && known.has(because))
}

/**
 * The exit code of `check`, which is about the run, with the suites of others. 0: conformant, passed, or nonconformant
 * exactly as expected. 1: a required clause failed unexpectedly, or the list of expected failures is stale. 2: the suite
 * could not judge. 3: a required clause was untestable, or none ran.
 */
export function exitCodeOf(report: Report): 0 | 1 | 2 | 3 {
  const { verdict, staleExpectedFailures = [] } = report
  const results = allClauses(report)
  if (verdict === 'error') return 2
  if (results.some(({ level, status, known }) => level === 'required' && status === 'failed' && !known)) return 1
  if (staleExpectedFailures.length > 0) return 1
  // A run that selected clauses of other suites alone has no verdict on the documents.
  if (verdict === 'partial' && (report.clauses.length > 0 || results.length === 0)) return 3
  const known = new Set(results.filter((clause) => clause.known).map(({ id }) => id))
  return results.some((clause) => isOpen(clause, known)) ? 3 : 0
}

/** An entry of the file of expected failures. An id that names no clause makes the entry stale, and is no usage error. */
export interface ExpectedFailure {
  readonly id: string
  readonly reason: string
  readonly link?: string
}

function isEntry(value: unknown): value is ExpectedFailure {
  const { id, reason, link } = (value ?? {}) as Record<string, unknown>
  return (
    typeof id === 'string' &&
    typeof reason === 'string' &&
    reason !== '' &&
    ['string', 'undefined'].includes(typeof link)
  )
}

/** Reads a list of `{ id, reason, link? }` in YAML or JSON. @throws UsageError */
export async function readExpectedFailures(path: string): Promise<ExpectedFailure[]> {
  const value = (await readYamlFile(path, 'the expected failures')) ?? []
  if (!Array.isArray(value)) throw new UsageError(`${path}: a list of { id, reason, link } is expected`)
  const wrong = value.findIndex((entry) => !isEntry(entry))
  if (wrong >= 0) throw new UsageError(`${path}: entry ${wrong + 1} needs an id and a reason, and may have a link`)
  return value as ExpectedFailure[]
}

/** Marks the failures that the entries expect, and finds the entries that are no longer true. */
export function applyExpectedFailures(
  results: readonly ClauseResult[],
  expected: readonly ExpectedFailure[],
): { results: ClauseResult[]; stale: NonNullable<Report['staleExpectedFailures']> } {
  const entries = new Map(expected.map((entry) => [entry.id, entry]))
  const statuses = new Map<string, ClauseResult['status']>(results.map(({ id, status }) => [id, status]))
  const stale = expected.flatMap(({ id }) => {
    const status = statuses.get(id)
    if (status === undefined && !Object.hasOwn(clauses, id)) return [{ id, why: 'there is no such clause' }]
    // A clause that was not selected, or that no check could judge, does not make its entry stale.
    return status === 'passed' || status === 'observed' ? [{ id, why: `it is expected to fail and ${status}` }] : []
  })
  const marked = results.map((result) => {
    const entry = entries.get(result.id)
    return result.status === 'failed' && entry ? { ...result, known: entry } : result
  })
  return { results: marked, stale }
}

/** Entries that expect exactly the failures of these results. */
export function expectedFrom(results: readonly ClauseResult[]): ExpectedFailure[] {
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ id, tests }) => {
      const test = tests.find(({ status }) => status === 'failed')
      return { id, reason: test?.error?.message ?? 'failed', link: '' }
    })
}

const heading = ' Clauses that are known to fail: why, and where it is followed up.'

/**
 * Writes the file that expects these failures, in YAML. An entry that is already there keeps its words and comments.
 * Entries of clauses that passed are removed. Entries of clauses that nobody judged stay.
 *
 * @param before the text of the present file; absent: there is no file
 */
export function writeExpectedFailures(results: readonly ClauseResult[], before?: string): string {
  const document = before === undefined ? new Document([]) : parseDocument(before)
  if (!isSeq(document.contents)) document.contents = document.createNode([])
  if (before === undefined) document.commentBefore = heading
  const list = document.contents
  if (!isSeq(list)) throw new Error('a list was made')
  const idOf = (item: unknown): unknown => (isMap(item) ? item.get('id') : undefined)
  const healed = new Set(
    results.filter(({ status }) => status === 'passed' || status === 'observed').map(({ id }) => id),
  )
  list.items = list.items.filter((item) => !healed.has(String(idOf(item))))
  const present = new Set(list.items.map(idOf))
  list.flow = false
  for (const entry of expectedFrom(results)) if (!present.has(entry.id)) list.add(document.createNode(entry))
  return document.toString()
}
