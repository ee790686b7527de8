/** The result of a run of many workers. */
export interface LoadResult {
  readonly done: number
  readonly failed: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Reasons of failures, with how often each came. */
  readonly failures: Readonly<Record<string, number>>
}

export interface LoadOptions {
  readonly workers: number
  /** Tasks in all, shared by the workers. */
  readonly tasks: number
}

/**
 * Runs tasks with so many in flight at a time.
 *
 * @param task gets the worker's number and how many it has done; throws when it fails
 */
export async function runLoad(
  { workers, tasks }: LoadOptions,
  task: (worker: number, index: number) => Promise<void>,
): Promise<LoadResult> {
  const latencies: number[] = []
  const failures: Record<string, number> = {}
  const perWorker = Math.ceil(tasks / workers)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let index = 0; index < perWorker; index++) {
        const begun = performance.now()
        try {
          await task(worker, index)
          latencies.push(performance.now() - begun)
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error)
          failures[reason] = (failures[reason] ?? 0) + 1
        }
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  latencies.sort((one, other) => one - other)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? NaN
  return {
    done: latencies.length,
    failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failures,
  }
}
