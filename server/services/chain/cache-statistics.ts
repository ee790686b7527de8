/** How questions to the chain were answered since the start; each only grows. */
export interface CacheStatistics {
  /** From memory. */
  hits: number
  /** By a call to the node. */
  misses: number
  /** By the call that somebody else was about to make for the same question. */
  shared: number
}
