import { AsyncLocalStorage } from 'node:async_hooks'

export interface MicroBatchOptions {
  /** The most items that one run takes. */
  readonly maxItems: number
  /** Runs that may be under way at a time. Default 1. */
  readonly maxRuns?: number
  /**
   * The next run waits until as many items have gathered as are under way, but no longer than this time after the latest
   * run began. So load makes few large runs, and the second of two callers does not wait at all. Default 0.
   */
  readonly gatherMs?: number
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  /** The context of the caller, kept for the first item of a run. */
  readonly inContext: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined
}

/** Gives a caller its answer. */
function hand<Answer>({ resolve, reject }: Waiting<unknown, Answer>, answer: Answer | Error): void {
  if (answer instanceof Error) reject(answer)
  else resolve(answer)
}

/**
 * Turns calls for one item each into runs for many items: items that come while the runs are busy go along with the next
 * run. A call that comes alone is run alone, without delay. Under load, many calls share the cost of a round trip.
 *
 * @param run answers in the order of its items; an `Error` among the answers fails that item alone, throwing fails all
 * @returns a function that resolves to the answer for its item
 */
export function microBatch<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>,
  { maxItems, maxRuns = 1, gatherMs = 0 }: MicroBatchOptions,
): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = []
  let running = 0
  /** Items of the runs that are under way. */
  let underWay = 0
  let scheduled = false
  /** When the latest run began. */
  let begunMs = 0
  let later: NodeJS.Timeout | undefined

  async function runNext(): Promise<void> {
    const taken = waiting.slice(0, maxItems)
    waiting = waiting.slice(maxItems)
    running++
    underWay += taken.length
    begunMs = performance.now()
    try {
      const items = taken.map(({ item }) => item)
      // The run belongs to the trace of a caller, and not to that of the run before, which started it.
      const answers = await (taken[0]?.inContext ? taken[0].inContext(run, items) : run(items))
      taken.forEach((one, index) => hand(one, answers[index] as Answer | Error))
    } catch (error) {
      for (const { reject } of taken) reject(error)
    } finally {
      running--
      underWay -= taken.length
      schedule()
    }
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || running >= maxRuns) return
    const gathers = waiting.length < Math.min(underWay, maxItems)
    const ms = gathers ? begunMs + gatherMs - performance.now() : 0
    if (ms > 0) {
      later ??= setTimeout(() => {
        later = undefined
        schedule()
      }, ms)
      return
    }
    scheduled = true
    // At least the current round of I/O callbacks: requests that arrived together run together.
    setImmediate(() => {
      scheduled = false
      void runNext()
      schedule()
    })
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const inContext = waiting.length === 0 ? AsyncLocalStorage.snapshot() : undefined
      waiting.push({ item, resolve, reject, inContext })
      schedule()
    })
}
