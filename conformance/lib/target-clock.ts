import { ourTimeMs } from './world.ts'

/** The target's clock, as its answers show it. */
export interface TargetClock {
  /** The target's time in whole Unix seconds. */
  now(): number
  /** The target's time minus the time of this machine, in seconds. */
  readonly offsetSeconds: number
  /** How the offset is known; null: not yet, so the clock of this machine counts. */
  readonly measuredBy: 'date header' | 'accepted window' | null
}

/** A clock that answers and checks can set. */
export interface AdjustableClock extends TargetClock {
  /** Reads a `Date` header of an answer. `sentAtMs` and `receivedAtMs` are times of this machine in ms since 1970. */
  see(dateHeader: string | undefined, sentAtMs: number, receivedAtMs: number): void
  /** Sets the offset that a check measured, in seconds. */
  set(offsetSeconds: number): void
}

/**
 * Creates the clock of a run. Each `Date` header bounds the offset: the target's time lay within that second when
 * the target answered. Many answers together bound it to less than one second.
 */
export function createTargetClock(): AdjustableClock {
  let low = -Infinity
  let high = Infinity
  let set: number | null = null
  let seen = false

  const offset = (): number => set ?? (seen ? (low + high) / 2 / 1000 : 0)
  return {
    see(dateHeader, sentAtMs, receivedAtMs) {
      const dateMs = dateHeader === undefined ? NaN : Date.parse(dateHeader)
      if (Number.isNaN(dateMs)) return
      const bounds = [dateMs - receivedAtMs, dateMs + 1000 - sentAtMs] as const
      seen = true
      low = Math.max(low, bounds[0])
      high = Math.min(high, bounds[1])
      // Several machines may stand behind one URL, or somebody may have set the clock. The latest answer counts.
      if (low > high) [low, high] = bounds
    },
    set(offsetSeconds) {
      set = offsetSeconds
    },
    now: () => Math.floor(ourTimeMs() / 1000 + offset()),
    get offsetSeconds() {
      return Math.round(offset() * 1000) / 1000
    },
    get measuredBy() {
      return set !== null ? 'accepted window' : seen ? 'date header' : null
    },
  }
}
