import { callLife } from '../../server/services/ledger/lifecycle.ts'

/** Counts the transitions of relay calls, and tells which of all that can be were seen. */
export function createCoverage() {
  const seen = new Map(callLife.map(({ from, event }) => [`${from} > ${event}`, 0]))
  return {
    add: (transitions: Readonly<Record<string, number>>) => {
      for (const [name, times] of Object.entries(transitions)) seen.set(name, (seen.get(name) ?? 0) + times)
    },
    /** One line: how many, and those that were not. */
    told: (): string => {
      const missing = [...seen].filter(([, times]) => times === 0).map(([name]) => name)
      const rest = missing.length === 0 ? '' : `; not seen: ${missing.join(', ')}`
      return `${seen.size - missing.length} of ${seen.size} transitions of a relay call were seen${rest}`
    },
  }
}
