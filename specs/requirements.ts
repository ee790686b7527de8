import { readdirSync, readFileSync } from 'node:fs'
import type { ClauseLevel } from './clauses.ts'

/** A clause as a set of requirements froze it. */
export interface Requirement {
  readonly level: ClauseLevel
  /** `hashOfSentence` of the text; by edition, where an edition has a text of its own. */
  readonly sentences: Readonly<Record<string, string>>
  /** The titles of the checks that judge the clause. */
  readonly checks: readonly string[]
}

/** Clauses by their ids. */
export type RequirementSet = Readonly<Record<string, Requirement>>

const folder = new URL('./requirements/', import.meta.url)

/**
 * Every set of requirements by its name, the year and month in which it was frozen. A run that names a set judges by its
 * clauses and checks alone, so that a later version of Touchstone gives the same verdict for the same answers.
 */
export const requirementSets: Readonly<Record<string, RequirementSet>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RequirementSet,
    ]),
)

/** The set of a run that names none: the newest. */
export const currentRequirements: string = Object.keys(requirementSets).at(-1) ?? 'none'
