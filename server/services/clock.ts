/** The time, as a service: tests hand in their own. */
export interface Clock {
  /** Unix milliseconds: for what is stored, or told to others. An operator or the network may set this clock back. */
  nowMs(): number
  /** Milliseconds since some moment: for how long something takes within this process. This clock never goes back. */
  monotonicMs(): number
}

declare module '../core/define.ts' {
  interface Services {
    clock: Clock
  }
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
