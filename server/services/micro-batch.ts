import { AsyncLocalStorage } from 'node:async_hooks'

export interface MicroBatchOptions {
  /** The most items that one run takes. */
  readonly maxItems: number
  /** Runs that may be under way at a time. Default 1. */
  readonly maxRuns?: number
  /** How long to wait for company, in milliseconds; asked when the first item comes. Default 0. */
  readonly lingerMs?: () => number
}

/**
 * Turns calls for one item each into runs for many: what comes while the runs are busy goes along with the next one.
 * Without `lingerMs` nobody waits for company: a lone call runs at once. The cost of a round trip is shared under load.
 *
 * @param run answers in the order of its items; an `Error` among the answers fails that item alone, throwing fails all
 * @returns a function that resolves to the answer for its item
 */
export function microBatch<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>,
  { maxItems, maxRuns = 1, lingerMs = () => 0 }: MicroBatchOptions,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item
    readonly resolve: (answer: Answer) => void
    readonly reject: (error: unknown) => void
    /** Known of the one who came first. */
    readonly inContext: ReturnType<typeof AsyncLocalStorage.snapshot> | undefined
  }
  let waiting: Waiting[] = []
  let running = 0
  let scheduled = false

  async function runNext(): Promise<void> {
    const taken = waiting.slice(0, maxItems)
    waiting = waiting.slice(maxItems)
    running++
    try {
      const items = taken.map(({ item }) => item)
      // What it does belongs to one who asked, not to the run before it, which started it.
      const answers = await (taken[0]?.inContext ? taken[0].inContext(run, items) : run(items))
      taken.forEach(({ resolve, reject }, index) => {
        const answer = answers[index]
        if (answer instanceof Error) reject(answer)
        else resolve(answer as Answer)
      })
    } catch (error) {
      for (const { reject } of taken) reject(error)
    } finally {
      running--
      schedule()
    }
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || running >= maxRuns) return
    scheduled = true
    const run = () => {
      scheduled = false
      while (waiting.length > 0 && running < maxRuns) void runNext()
    }
    const ms = waiting.length < maxItems ? lingerMs() : 0
    // At least the current round of I/O callbacks: requests that arrived together run together.
    if (ms > 0) setTimeout(run, ms)
    else setImmediate(run)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const inContext = waiting.length === 0 ? AsyncLocalStorage.snapshot() : undefined
      waiting.push({ item, resolve, reject, inContext })
      schedule()
    })
}
