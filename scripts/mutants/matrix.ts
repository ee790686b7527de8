import { clauses } from '../../specs/index.ts'
import type { MutantResult } from './judge.ts'

/** The matrix as text: each clause with its mutants, and what else each of them broke. */
export function matrix(results: readonly MutantResult[]): string {
  const lines: string[] = []
  for (const [clause, { level }] of Object.entries(clauses)) {
    const own = results.filter((result) => result.clause === clause)
    if (own.length === 0) continue
    lines.push(`${clause} (${level})`)
    for (const { name, fault, caught, why, others } of own) {
      const variant = name === clause ? '' : `${name.slice(clause.length)} `
      const also = others.length > 0 ? ` [also ${others.join(', ')}]` : ''
      lines.push(`  ${caught ? '✓' : '✗'} ${variant}${fault}${why === undefined ? '' : ` — ${why}`}${also}`)
    }
  }
  return `${lines.join('\n')}\n`
}
