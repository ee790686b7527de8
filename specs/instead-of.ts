/** Letters that may be wrong, missing or too many in a name that is meant. */
const MAX_EDITS = 3
/** The most names that are listed. */
const MAX_LISTED = 20

/**
 * What a message adds about a name that is not known: the name that is meant, or those that there are.
 *
 * @example insteadOf('rpcUrl', ['rpcUrls', 'gasCap']) // '; did you mean rpcUrls?'
 */
export function insteadOf(name: string, known: readonly string[]): string {
  const [meant] = known
    .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ distance }) => distance <= MAX_EDITS)
    .sort((one, next) => one.distance - next.distance)
  if (meant) return `; did you mean ${meant.other}?`
  return known.length === 0 || known.length > MAX_LISTED ? '' : `; there are ${known.join(', ')}`
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
