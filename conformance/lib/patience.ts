/** After a hash that the chain never came to know, others are waited for this long at most. */
const disappointedMs = 5000

/** How long to wait for transactions; shared by the whole run, so that a target that invents hashes ends in time. */
export interface Patience {
  /** For a transaction to be mined, in ms. */
  receiptMs(): number
  /** The chain did not come to know a hash in all of that time. */
  disappointed(): void
}

export function createPatience(receiptTimeoutMs: number): Patience {
  let waitMs = receiptTimeoutMs
  return {
    receiptMs: () => waitMs,
    disappointed() {
      waitMs = Math.min(waitMs, disappointedMs)
    },
  }
}
