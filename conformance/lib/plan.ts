import { clauses } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'
import type { Plan } from './report-types.ts'

/** Gas of one relay call of the suite: `setData` of a short value through LSP6, with some room. */
const gasOfCall = 120_000

/** How many required clauses both documents have. */
export function countRequired(): number {
  return Object.values(clauses).filter(({ level }) => level === 'required').length
}

/** @param maxTransactions the budget of the run; 0 when it is read-only or has no fixture to sign with */
export function planOf(
  suites: readonly ClauseSuite[],
  { target, edition, maxTransactions }: Pick<Plan, 'target' | 'edition'> & { readonly maxTransactions: number },
): Plan {
  const checks = suites.flatMap((suite) => suite.checks.map(({ needs }) => needs ?? clauses[suite.id].needs))
  const spending = checks.filter((needs) => needs.includes('spend')).length
  const transactions = Math.min(spending, maxTransactions)
  return {
    target,
    edition,
    checks: checks.length,
    required: suites.filter(({ id }) => clauses[id].level === 'required').length,
    ofRequired: countRequired(),
    transactions,
    gas: transactions * gasOfCall,
  }
}
