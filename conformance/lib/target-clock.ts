import { performance } from 'node:perf_hooks'

/** The target's clock, as far as its answers show it. */
export interface TargetClock {
  /** The target's time in whole Unix seconds. */
  now(): number
  /** The target's time minus ours, in seconds. */
  readonly offsetSeconds: number
  /** How it is known; null: not yet, and our own clock is used. */
  readonly measuredBy: 'date header' | 'accepted window' | null
}

/** A clock that is set from outside. */
export interface AdjustableClock extends TargetClock {
  /** Takes in a `Date` header that came with a request sent and answered at these times of ours, in ms since 1970. */
  see(dateHeader: string | undefined, sentAtMs: number, receivedAtMs: number): void
  /** Sets the offset measured by other means, in seconds. */
  set(offsetSeconds: number): void
}

/** Our time in ms since 1970, which does not jump during a run. */
export function ourTimeMs(): number {
  return performance.timeOrigin + performance.now()
}

/**
 * Each `Date` header bounds the offset: the target's time lay within that second when it answered. The bounds of many
 * answers are cut with each other, which gives more than the resolution of one second.
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
      // Several machines behind one URL, or a clock that was set: what holds is the latest.
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
