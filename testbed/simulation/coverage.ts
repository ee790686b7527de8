import { callLife } from '../../server/services/ledger/lifecycle.ts'

/** Counts the transitions of relay calls, and tells how often each of all that can be was seen. */
export function createCoverage() {
  const seen = new Map(callLife.map(({ from, event }) => [`${from} > ${event}`, 0]))
  return {
    add: (transitions: Readonly<Record<string, number>>) => {
      for (const [name, times] of Object.entries(transitions)) seen.set(name, (seen.get(name) ?? 0) + times)
    },
    /** A line for each, the most frequent first, and one that counts them. */
    told: (): string => {
      const rows = [...seen].toSorted(([, one], [, other]) => other - one)
      const found = rows.filter(([, times]) => times > 0).length
      const lines = rows.map(([name, times]) => `  ${String(times).padStart(7)}  ${name}`)
      return [...lines, `${found} of ${seen.size} transitions of a relay call were seen`].join('\n')
    },
  }
}
