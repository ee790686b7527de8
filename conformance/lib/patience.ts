/** After a hash that the chain never came to know, others are waited for this long at most. */
const disappointedMs = 5000
/** A single rate limit is waited for this long at most. */
const longestWaitMs = 120_000

export interface PatienceOptions {
  /** For a transaction to be mined. */
  readonly receiptMs: number
  /** For all rate limits of the run together. */
  readonly rateLimitMs: number
  /** For a target that died to listen again. */
  readonly restartMs: number
  /** Between the last call that must not be executed and the last look for its effect; absent: 0. */
  readonly lingerMs?: number
}

/** How long the run waits for what; shared by the whole run, so that a target that keeps it waiting ends in time. */
export interface Patience {
  /** For a transaction to be mined, in ms. */
  receiptMs(): number
  /** The chain did not come to know a hash in all of that time. */
  disappointed(): void
  /** Whether a rate limit of so many ms may still be waited for; the time is then taken for spent. */
  mayWait(waitMs: number): boolean
  /** For a target that died to listen again, in ms. */
  readonly restartMs: number
  /** Between the last call that must not be executed and the last look for its effect, in ms. */
  readonly lingerMs: number
}

export function createPatience({ receiptMs, rateLimitMs, restartMs, lingerMs = 0 }: PatienceOptions): Patience {
  let receiptWaitMs = receiptMs
  let rateLimitLeftMs = rateLimitMs
  return {
    receiptMs: () => receiptWaitMs,
    disappointed() {
      receiptWaitMs = Math.min(receiptWaitMs, disappointedMs)
    },
    mayWait(waitMs) {
      if (waitMs > longestWaitMs || waitMs > rateLimitLeftMs) return false
      rateLimitLeftMs -= waitMs
      return true
    },
    restartMs,
    lingerMs,
  }
}
