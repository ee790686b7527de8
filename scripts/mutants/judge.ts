import type { NamedMutant } from '../../conformance/mutants/load.ts'
import type { SuiteRun } from './run-suite.ts'

/** What became of one mutant. */
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

/** Whether the suite caught the mutant by its own clause. @param broken what went wrong within the mutant itself */
export function judge({ name, mutant }: NamedMutant, { report }: SuiteRun, broken: readonly unknown[]): MutantResult {
  const { clause, fault } = mutant
  const own = report.clauses.find(({ id }) => id === clause)
  const failed = report.clauses.filter(({ status }) => status === 'failed').map(({ id }) => id)
  const found = own?.tests.find(({ status }) => status === 'failed')
  const why =
    broken.length > 0
      ? `the mutant itself failed: ${broken.map((error) => (error instanceof Error ? error.message : String(error))).join('; ')}`
      : own?.status === 'failed'
        ? undefined
        : `the clause is ${own?.status ?? 'not in the report'}`
  return {
    name,
    clause,
    fault,
    caught: why === undefined,
    ...(why === undefined ? {} : { why }),
    ...(found ? { message: `${found.title}: ${found.error?.message ?? ''}` } : {}),
    others: failed.filter((id) => id !== clause),
    durationMs: report.durationMs,
  }
}
