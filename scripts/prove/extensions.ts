import type { Alteration, ServerEnvironment } from '../../conformance/altered/define.ts'
import { type NamedLawful, type NamedMutant, nameOf } from '../../conformance/altered/load.ts'
import type { JudgedClause } from '../../conformance/lib/clause.ts'
import { loadSuitesOf, testbedConfigOf } from '../../conformance/lib/suites.ts'

/** Suites of others, and what proving them takes. */
export interface Extensions {
  /** Further arguments of each run. */
  readonly options: readonly string[]
  /** What selects all of their clauses. */
  readonly only: string
  /** The testbed with what they judge. */
  readonly environment: ServerEnvironment
  readonly clauses: Readonly<Record<string, JudgedClause>>
  readonly mutants: readonly NamedMutant[]
  readonly lawful: readonly NamedLawful[]
}

/** @throws UsageError when a suite is broken */
export async function extensionsOf(sources: readonly string[]): Promise<Extensions | undefined> {
  if (sources.length === 0) return undefined
  const loaded = await loadSuitesOf(sources, process.cwd())
  const server = testbedConfigOf(loaded)
  const inIts = <T extends Alteration & { readonly environment?: ServerEnvironment }>(altered: T): T => ({
    ...altered,
    environment: { ...altered.environment, server: { ...server, ...altered.environment?.server } },
  })
  return {
    options: sources.flatMap((source) => ['--suite', source]),
    only: loaded.map(({ suite }) => `${suite.prefix}.`).join(),
    environment: { server },
    clauses: Object.fromEntries(loaded.flatMap(({ clauses }) => clauses.map(({ id, clause }) => [id, clause]))),
    mutants: loaded.flatMap(({ source: path, suite: { mutants = [] } }) =>
      mutants.map((mutant) => ({ name: nameOf(mutant), mutant: inIts(mutant), path })),
    ),
    lawful: loaded.flatMap(({ source: path, suite: { lawful = [] } }) =>
      lawful.map((one) => ({ name: one.id, lawful: inIts(one), path })),
    ),
  }
}

/** The clauses of suites of others that no mutant breaks: nobody has seen their checks fail. */
export function unproved({ clauses, mutants }: Extensions): string[] {
  const broken = new Set(mutants.map(({ mutant }) => mutant.clause))
  return Object.entries(clauses)
    .filter(([id, { level }]) => level !== 'unspecified' && !broken.has(id))
    .map(([id]) => `${id}: no mutant breaks it`)
}
