import { createHash } from 'node:crypto'
import { clauses, type RequirementSet, requirementSets } from '../../specs/index.ts'
import type { ClauseSuite } from './clause.ts'
import { ofChecks } from './suites.ts'
import { UsageError } from './outcome.ts'

/** Tells two sentences apart by their words. A comma or a capital more is no other meaning. */
export function hashOfSentence(text: string): string {
  const words = text.toLowerCase().match(/±|[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? []
  return createHash('sha256').update(words.join(' ')).digest('hex').slice(0, 16)
}

/** The set that these suites are now: what a set of requirements freezes. */
export function requirementsOf(suites: readonly ClauseSuite[]): RequirementSet {
  const checks = new Map<string, readonly string[]>(
    suites.map(({ id, checks }) => [id, checks.map(({ title }) => title)]),
  )
  const ofRelays = Object.entries(clauses).filter(([, { document }]) => document !== 'client')
  return Object.fromEntries(
    ofRelays.map(([id, { level, text, editions = {} }]) => {
      const sentences = Object.entries({ documents: text, ...editions }).map(([name, one]) => [
        name,
        hashOfSentence(one),
      ])
      return [
        id,
        { level, sentences: Object.fromEntries(sentences) as Record<string, string>, checks: checks.get(id) ?? [] },
      ]
    }),
  )
}

/**
 * The clauses and checks of a set.
 *
 * @param name absent: all
 * @throws UsageError when there is no such set
 */
export function ofRequirements(suites: readonly ClauseSuite[], name: string | undefined): readonly ClauseSuite[] {
  if (name === undefined) return suites
  const set = Object.hasOwn(requirementSets, name) ? requirementSets[name] : undefined
  if (!set) {
    throw new UsageError(`there are no requirements ${name}; there are ${Object.keys(requirementSets).join(', ')}`)
  }
  return ofChecks(suites, Object.fromEntries(Object.entries(set).map(([id, { checks }]) => [id, checks])))
}

/**
 * What of a set is no longer as it was frozen, and what decides the verdict without being in the set, one line each. A
 * recommended clause, or a question, may be added to a set's clauses: it decides no verdict.
 */
export function changesSince(set: RequirementSet, now: RequirementSet, isNewest: boolean): string[] {
  const changed = Object.entries(set).flatMap(([id, { level, sentences, checks }]) => {
    const present = now[id]
    if (!present) return [`${id} is gone`]
    const lost = checks.filter((title) => !present.checks.includes(title))
    return [
      ...(present.level === level ? [] : [`${id} was ${level} and is ${present.level}`]),
      ...Object.keys(sentences).flatMap((edition) =>
        present.sentences[edition] === sentences[edition] ? [] : [`${id} has another sentence (${edition})`],
      ),
      ...lost.map((title) => `${id} has lost the check "${title}"`),
    ]
  })
  if (!isNewest) return changed
  const added = Object.entries(now).flatMap(([id, { level, checks }]) => {
    if (level !== 'required') return []
    const frozen = set[id]
    if (!frozen) return [`${id} is required, and new`]
    return checks.filter((title) => !frozen.checks.includes(title)).map((title) => `${id} has a new check "${title}"`)
  })
  return [...changed, ...added]
}
