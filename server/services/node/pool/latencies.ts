/** Samples per method: enough for a 95th percentile, few enough to follow a change within seconds. */
const SAMPLES = 128
/** With fewer samples a constant is used in place of the percentile. */
const ENOUGH = 20
/** The percentile is calculated again after so many samples. */
const STEP = 16

const LEAST_MS = 10
const MOST_MS = 2_000
const UNKNOWN_MS = 250
/** eth_getLogs reads much at once, and may take long. */
const UNKNOWN_LOGS_MS = MOST_MS

interface Samples {
  readonly ring: number[]
  count: number
  p95Ms: number
}

/** How long answered calls took, by method. */
export class Latencies {
  readonly #samples = new Map<string, Samples>()

  record(method: string, durationMs: number): void {
    let samples = this.#samples.get(method)
    if (samples === undefined) {
      samples = { ring: [], count: 0, p95Ms: method === 'eth_getLogs' ? UNKNOWN_LOGS_MS : UNKNOWN_MS }
      this.#samples.set(method, samples)
    }
    samples.ring[samples.count++ % SAMPLES] = durationMs
    if (samples.count < ENOUGH || samples.count % STEP !== 0) return
    const sorted = samples.ring.toSorted((one, other) => one - other)
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? UNKNOWN_MS
    samples.p95Ms = Math.min(Math.max(p95, LEAST_MS), MOST_MS)
  }

  /** Milliseconds after which a call is slow: of 20 calls of this method 19 were answered by then. */
  slowAfterMs(method: string): number {
    return this.#samples.get(method)?.p95Ms ?? (method === 'eth_getLogs' ? UNKNOWN_LOGS_MS : UNKNOWN_MS)
  }
}
