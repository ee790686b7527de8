import type { NamedLawful, NamedMutant } from '../../conformance/altered/load.ts'
import type { ClauseResult } from '../../conformance/lib/report-types.ts'
import { allClauses } from '../../conformance/lib/verdict.ts'
import type { SuiteRun } from './run-suite.ts'
import { clauses } from '../../specs/index.ts'
import type { JudgedClause } from '../../conformance/lib/clause.ts'

export interface MutantResult {
  readonly name: string
  readonly clause: string
  readonly fault: string
  /** Its own clause failed. */
  readonly caught: boolean
  /** Why not; absent when it was caught. */
  readonly why?: string
  /** What its clause said. */
  readonly message?: string
  /** The other clauses that failed too, of those that were run. */
  readonly others: readonly string[]
  readonly durationMs: number
}

/** A clause that a lawful server was not to break, and what the suite said. */
export interface Accusation {
  readonly clause: string
  readonly level: ClauseResult['level']
  readonly status: ClauseResult['status']
  readonly message: string
}

export interface LawfulResult {
  readonly name: string
  /** The clauses that could be tempted to accuse it. */
  readonly clauses: readonly string[]
  readonly allowedBy: string
  /** Judged as what it is. */
  readonly spared: boolean
  /** Why nothing was judged, or what its alteration did wrong; absent when it was judged. */
  readonly why?: string
  readonly accusations: readonly Accusation[]
  readonly verdict?: string
  readonly durationMs: number
}

function describeBroken(broken: readonly unknown[]): string | undefined {
  if (broken.length === 0) return undefined
  const texts = broken.map((error) => (error instanceof Error ? error.message : String(error)))
  return `the alteration itself failed: ${[...new Set(texts)].join('; ')}`
}

/** What a clause says for itself: of the first check that did not pass. */
function messageOf({ status, tests }: ClauseResult): string {
  const found = tests.find((test) => test.status === status)
  return `${found?.title ?? 'no check'}: ${found?.error?.message ?? found?.reason ?? ''}`
}

/** Whether the suite caught the mutant by its own clause. @param broken what went wrong within the alteration itself */
export function judgeMutant(
  { name, mutant }: Pick<NamedMutant, 'name' | 'mutant'>,
  { report }: SuiteRun,
  broken: readonly unknown[],
): MutantResult {
  const { clause, fault } = mutant
  const own = allClauses(report).find(({ id }) => id === clause)
  const failed = allClauses(report)
    .filter(({ status }) => status === 'failed')
    .map(({ id }) => id)
  const why =
    describeBroken(broken) ??
    (own?.status === 'failed' ? undefined : `the clause is ${own?.status ?? 'not in the report'}`)
  return {
    name,
    clause,
    fault,
    caught: why === undefined,
    ...(why === undefined ? {} : { why }),
    ...(own?.status === 'failed' ? { message: messageOf(own) } : {}),
    others: failed.filter((id) => id !== clause),
    durationMs: report.durationMs,
  }
}

/** Whether the suite spared the lawful server. @param broken what went wrong within the alteration itself */
export function judgeLawful(
  { name, lawful }: Pick<NamedLawful, 'name' | 'lawful'>,
  { report }: SuiteRun,
  broken: readonly unknown[],
): LawfulResult {
  const { clauses, allowedBy, mayFail = [], untestable = [] } = lawful
  const isAccused = ({ id, level, status }: ClauseResult): boolean => {
    if (level === 'unspecified') return false
    if (status === 'failed') return level === 'required' || !mayFail.includes(id)
    return status === 'untestable' && level === 'required' && !untestable.includes(id)
  }
  const judged = allClauses(report)
  const accusations = judged
    .filter(isAccused)
    .map((result) => ({ clause: result.id, level: result.level, status: result.status, message: messageOf(result) }))
  const why = describeBroken(broken) ?? (judged.length === 0 ? 'nothing was judged' : undefined)
  return {
    name,
    clauses,
    allowedBy,
    spared: why === undefined && accusations.length === 0,
    ...(why === undefined ? {} : { why }),
    accusations,
    verdict: report.verdict,
    durationMs: report.durationMs,
  }
}

function mutantLine({ name, clause, fault, caught, why, others }: MutantResult): string {
  const variant = name === clause ? '' : `${name.slice(clause.length)} `
  const also = others.length > 0 ? ` [also ${others.join(', ')}]` : ''
  return `  ${caught ? '✓' : '✗'} ${variant}${fault}${why === undefined ? '' : ` — ${why}`}${also}`
}

function lawfulLine({ name, spared, why, accusations }: LawfulResult): string {
  const accusedOf = accusations.map(({ clause, status }) => `${clause} ${status}`).join(', ')
  return `  ${spared ? '✓' : '✗'} spared: ${name}${spared ? '' : ` — ${why ?? accusedOf}`}`
}

/**
 * The matrix as text: each clause with its mutants and what else each of them broke, and its lawful servers.
 *
 * @param of the clauses, in their order; absent: those of the documents
 */
export function matrix(
  mutants: readonly MutantResult[],
  lawful: readonly LawfulResult[] = [],
  of: Readonly<Record<string, Pick<JudgedClause, 'level'>>> = clauses,
): string {
  const lines: string[] = []
  for (const [clause, { level }] of Object.entries(of)) {
    const broken = mutants.filter((result) => result.clause === clause)
    const spared = lawful.filter((result) => result.clauses.includes(clause))
    if (broken.length + spared.length === 0) continue
    lines.push(`${clause} (${level})`, ...broken.map(mutantLine), ...spared.map(lawfulLine))
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
