import cluster from 'node:cluster'
import { AggregatorRegistry, type Registry } from 'prom-client'

const ASKED = 'touchstone:metrics-asked'
const TOLD = 'touchstone:metrics-told'
/** The first process answers within five seconds: prom-client waits no longer for a worker. */
const TIMEOUT_MS = 6_000

interface Asked {
  readonly type: typeof ASKED
  readonly id: number
}

interface Told {
  readonly type: typeof TOLD
  readonly id: number
  /** In the Prometheus text format; absent: a worker did not answer. */
  readonly text?: string
}

/** In the first process: tells workers the metrics of all of them. */
export function tellMetrics(): void {
  const all = new AggregatorRegistry()
  cluster.on('message', (worker, message: Asked | { readonly type?: unknown }) => {
    if (message.type !== ASKED) return
    const { id } = message as Asked
    // The worker may be gone by then.
    const tell = (told: Omit<Told, 'type' | 'id'>) =>
      void worker.send({ type: TOLD, id, ...told } satisfies Told, () => undefined)
    all.clusterMetrics().then(
      (text) => tell({ text }),
      () => tell({}),
    )
  })
}

/**
 * In a worker: reads the metrics of all workers. Counters and histograms are added up; of gauges, see their aggregator.
 *
 * @returns a function that throws an Error when a worker does not answer
 */
export function metricsOfAll(own: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries(own)
  // From now on this worker tells the first process its own metrics.
  void new AggregatorRegistry()
  const waiting = new Map<number, (told: Told) => void>()
  let last = 0
  process.on('message', (message: Told | { readonly type?: unknown }) => {
    if (message.type !== TOLD) return
    const told = message as Told
    waiting.get(told.id)?.(told)
  })
  return async () => {
    const id = ++last
    const { promise, resolve, reject } = Promise.withResolvers<Told>()
    const timer = setTimeout(() => reject(new Error('the first process does not tell the metrics')), TIMEOUT_MS)
    waiting.set(id, resolve)
    process.send?.({ type: ASKED, id } satisfies Asked)
    try {
      const { text } = await promise
      if (text === undefined) throw new Error('a worker does not tell its metrics')
      return text
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
  }
}
