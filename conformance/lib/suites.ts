import { readdir } from 'node:fs/promises'
import { type ClauseId, clauses } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'
import type { Plan } from './report-types.ts'

const folder = new URL('../suites/', import.meta.url)
const order = Object.keys(clauses)

/**
 * Loads the checks of every clause from each `suites/<folder>/<id>.conformance.ts`, in the order of the documents.
 * Several files may hold checks of one clause.
 */
export async function loadSuites(): Promise<ClauseSuite<ClauseId>[]> {
  const paths = (await readdir(folder, { recursive: true }))
    .filter((path) => /\.conformance\.(ts|js)$/.test(path))
    .sort()
  const byId = new Map<ClauseId, ClauseSuite<ClauseId>>()
  for (const path of paths) {
    const module = (await import(new URL(path, folder).href)) as { default: readonly ClauseSuite<ClauseId>[] }
    for (const suite of module.default) {
      const { id, checks } = suite
      byId.set(id, { ...suite, checks: [...(byId.get(id)?.checks ?? []), ...checks] })
    }
  }
  return [...byId.values()].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
}

/** Whether `--only` selects this clause. The option names ids, or the beginnings of ids, separated by commas. */
export function isSelected(id: string, only: string | null): boolean {
  return only === null || only.split(',').some((name) => id.startsWith(name.replace(/\*$/, '')))
}

/** The checks of these titles, by clause. */
export function ofChecks(
  suites: readonly ClauseSuite[],
  named: Readonly<Record<string, readonly string[]>>,
): readonly ClauseSuite[] {
  return suites.flatMap((suite) => {
    const titles = Object.hasOwn(named, suite.id) ? named[suite.id] : undefined
    return titles ? [{ ...suite, checks: suite.checks.filter(({ title }) => titles.includes(title)) }] : []
  })
}

/** About the gas of one relay call of the suite: `setData` of a short value through the key manager. */
const gasOfCall = 120_000

/** How many required clauses both documents have for a relay, or for a client. */
export function countRequired(whom: 'relay' | 'client' = 'relay'): number {
  return Object.values(clauses).filter(
    ({ level, document }) => level === 'required' && (document === 'client') === (whom === 'client'),
  ).length
}

/** @param maxTransactions the budget of the run; 0 when the run is read-only or has no fixture to sign with */
export function planOf(
  suites: readonly ClauseSuite[],
  { target, edition, maxTransactions }: Pick<Plan, 'target' | 'edition'> & { readonly maxTransactions: number },
): Plan {
  const checks = suites.flatMap(({ clause, checks }) => checks.map(({ needs }) => needs ?? clause.needs))
  const spending = checks.filter((needs) => needs.includes('spend')).length
  const transactions = Math.min(spending, maxTransactions)
  return {
    target,
    edition,
    checks: checks.length,
    required: suites.filter(({ clause }) => clause.level === 'required' && clause.document !== 'extension').length,
    ofRequired: countRequired(),
    transactions,
    gas: transactions * gasOfCall,
  }
}
