/** The time, as a service: tests hand in their own. */
export interface Clock {
  /** Unix milliseconds. */
  nowMs(): number
}

declare module '../core/define.ts' {
  interface Services {
    clock: Clock
  }
}

export const systemClock: Clock = { nowMs: () => Date.now() }
