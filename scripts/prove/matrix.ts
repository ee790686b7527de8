import { clauses } from '../../specs/index.ts'
import type { JudgedClause } from '../../conformance/lib/clause.ts'
import type { LawfulResult, MutantResult } from './judge.ts'

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
