import type { ErrorObject } from 'ajv/dist/2020.js'

/** Letters that may be wrong, missing or too many in a name that is meant. */
const MAX_EDITS = 3

/**
 * What is wrong with a configuration, in the words of whoever wrote it: `unknown member chain.rpcUrl; did you mean
 * chain.rpcUrls?`
 */
export function configFault({ keyword, instancePath, params, message, parentSchema }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const member = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (keyword === 'required') return `${member(String(params['missingProperty']))} is missing`
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty'])
    const known = Object.keys((parentSchema?.['properties'] ?? {}) as object)
    const [meant] = known
      .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
      .filter(({ distance }) => distance <= MAX_EDITS)
      .sort((one, next) => one.distance - next.distance)
    return `unknown member ${member(name)}${meant ? `; did you mean ${member(meant.other)}?` : ''}`
  }
  return `${path || 'configuration'} ${message ?? keyword}`
}

/** Letters to change, add or leave out that make one text of the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [index, otherLetter] of [...other].entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[index], row[index + 1], row[index]]
      next.push(Math.min(left + 1, above + 1, diagonal + (letter === otherLetter ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
