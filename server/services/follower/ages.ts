import type { Clock } from '../clock.ts'

/** Remembers since when this process has seen something at every look at an account. */
export interface Ages {
  /**
   * @param about what the names are of, an account for example; names that were seen at the last look and are not seen now
   *   are forgotten
   * @returns tells for how long a name has been seen at every look, in milliseconds
   */
  see(about: string, names: Iterable<string>): (name: string) => number
}

/**
 * Counts by the monotonic clock: stored times are of the calendar, which may be set back, and then nothing would be late for
 * as long as it was ahead.
 */
export function createAges(clock: Clock): Ages {
  const seenAtMs = new Map<string, ReadonlyMap<string, number>>()
  return {
    see: (about, names) => {
      const nowMs = clock.monotonicMs()
      const before = seenAtMs.get(about)
      const now = new Map(Array.from(names, (name) => [name, before?.get(name) ?? nowMs]))
      if (now.size === 0) seenAtMs.delete(about)
      else seenAtMs.set(about, now)
      return (name) => nowMs - (now.get(name) ?? nowMs)
    },
  }
}
